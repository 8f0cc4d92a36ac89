/** Selection of instances: a project's that ran in a time range and have tags, page by page. */

import { parseTags, type Tags } from "@service/core";
import type { Format } from "@service/core/query";
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
  /** The last instance of the previous page. */
  after?: Pick<StoredInstance, "listed_ns" | "id">;
}

/** One page of a list of instances. */
export interface InstancePage {
  /** The newest first. */
  instances: StoredInstance[];
  /** Whether no others follow. */
  isLast: boolean;
}

/** The page of instances for a selection. */
export async function selectInstances(
  db: Database,
  { project, start_ns, end_ns, tags = {}, limit, after }: InstanceSelection,
): Promise<InstancePage> {
  const { rows } = await db.query(statement(after ? SELECT_AFTER : SELECT, {
    project: project.id,
    project_name: project.name,
    start_ns,
    end_ns,
    ...(after && { after_ns: after.listed_ns, after_id: after.id }),
    tags: JSON.stringify(Object.entries(tags)),
    // One row more shows that there is another page.
    limit: limit === undefined ? -1 : limit + 1,
  }));
  const found = rows.map((row) => storedInstance(row, project.name));
  const instances = found.slice(0, limit);
  return { instances, isLast: instances.length === found.length };
}

const SELECT = select("");
const SELECT_AFTER = select("AND (listed_ns, id) < (:after_ns, :after_id)");

/** The query with a further condition. Tags that the service adds replace others of their name. */
function select(condition: string): string {
  return `SELECT ${INSTANCE_COLUMNS} FROM instances i
  WHERE project = :project AND listed_ns <= :end_ns
    AND min(last_seen_ns, received_ns) >= :start_ns
    ${condition}
    AND NOT EXISTS (
      SELECT value ->> 0 AS wanted FROM json_each(:tags) w WHERE value ->> 1 IS NOT CASE wanted
        WHEN 'instance.id' THEN i.instance_id WHEN 'api_key.name' THEN i.key
        WHEN 'project.name' THEN :project_name
        ELSE (SELECT t.value FROM json_each(i.tags) t WHERE t.key = wanted)
      END
    )
  ORDER BY listed_ns DESC, id DESC LIMIT :limit`;
}

/** A tag filter, as `formatTags` writes it. */
export const tagFilter: Format<Tags> = { parse: parseTags, schema: { type: "string" } };
