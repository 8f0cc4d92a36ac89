/** Selection of instances: a project's that ran in a time range and have tags, page by page. */

import { parseTags, type Tags } from "@service/core";
import type { Format } from "@service/core/query";
import { LAST_NS } from "@service/core/time";
import { type Database, statement } from "../database/database.ts";
import { INSTANCE_COLUMNS, type StoredInstance, storedInstance } from "./instance.ts";

/** Filter and page of a list of instances. */
export interface InstanceSelection {
  project: { id: bigint; name: string };
  /** Instances that ended before are left out. */
  start_ns: bigint;
  /** Instances that started after are left out. */
  end_ns: bigint;
  /** Tags that an instance must have, all of them. */
  tags?: Tags;
  /** Most instances of the page; all when absent. */
  limit?: number;
  /** Where the previous page ended. */
  cursor?: Cursor;
}

/** One page of a list of instances. */
export interface InstancePage {
  /** The newest first. */
  instances: StoredInstance[];
  /** The cursor of the next page; `null`: this is the last. */
  next: string | null;
}

/** Position in a list of instances: the last one of a page. */
export interface Cursor {
  start_ns: bigint;
  /** Row id. */
  id: bigint;
}

/** The page of instances for a selection. */
export async function selectInstances(
  db: Database,
  { project, start_ns, end_ns, tags = {}, limit, cursor }: InstanceSelection,
): Promise<InstancePage> {
  const { rows } = await db.query(statement(cursor ? SELECT_AFTER_CURSOR : SELECT, {
    project: project.id,
    project_name: project.name,
    start_ns,
    end_ns,
    ...(cursor && { cursor_ns: cursor.start_ns, cursor_id: cursor.id }),
    tags: JSON.stringify(Object.entries(tags)),
    // One row more shows that there is another page.
    limit: limit === undefined ? -1 : limit + 1,
  }));
  const found = rows.map((row) => storedInstance(row, project.name));
  const instances = found.slice(0, limit);
  return {
    instances,
    next: instances.length < found.length ? cursorText(instances.at(-1)!) : null,
  };
}

const SELECT = select("");
const SELECT_AFTER_CURSOR = select("AND (start_ns, id) < (:cursor_ns, :cursor_id)");

/** The query with a further condition. Tags that the service adds replace others of their name. */
function select(condition: string): string {
  return `SELECT ${INSTANCE_COLUMNS} FROM instances i
  WHERE project = :project AND start_ns <= :end_ns AND last_seen_ns >= :start_ns
    ${condition}
    AND NOT EXISTS (
      SELECT value ->> 0 AS wanted FROM json_each(:tags) w WHERE value ->> 1 IS NOT CASE wanted
        WHEN 'instance.id' THEN i.instance_id WHEN 'api_key.name' THEN i.key
        WHEN 'project.name' THEN :project_name
        ELSE (SELECT t.value FROM json_each(i.tags) t WHERE t.key = wanted)
      END
    )
  ORDER BY start_ns DESC, id DESC LIMIT :limit`;
}

/** A tag filter, as `formatTags` writes it. */
export const tagFilter: Format<Tags> = { parse: parseTags, schema: { type: "string" } };

/** A cursor of {@linkcode InstancePage}: opaque text. */
export const cursorFormat: Format<Cursor> = { parse: parseCursor, schema: { type: "string" } };

function cursorText({ start_ns, id }: StoredInstance): string {
  return btoa(`${start_ns}.${id}`).replace(/=+$/, "");
}

function parseCursor(text: string): Cursor {
  const match = /^[A-Za-z0-9]{1,60}$/.test(text)
    ? /^(\d{1,19})\.(\d{1,19})$/.exec(decodeBase64(text))
    : null;
  const [start_ns, id] = match ? [BigInt(match[1]!), BigInt(match[2]!)] : [-1n, -1n];
  if (start_ns < 0n || start_ns > LAST_NS || id > LAST_NS) {
    throw new RangeError("must be taken from the Link header of the previous page");
  }
  return { start_ns, id };
}

function decodeBase64(text: string): string {
  try {
    return atob(text);
  } catch {
    return "";
  }
}
