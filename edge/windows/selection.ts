/** Selection of instances: a project's that ran in a time range and have tags, page by page. */

import { parseTags, type Tags } from "@service/core";
import type { Format } from "@service/core/query";
import { LAST_NS } from "@service/core/time";
import { yieldToEventLoop } from "@service/core/yield";
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

/** Instances that are selected at once: other requests wait for them for some milliseconds. */
export const AT_ONCE = 200;

/** Instances that are looked at for them: to pass one costs a tenth of selecting it. */
const LOOKED_AT = 2_000;

/** The page of instances for a selection. */
export async function selectInstances(
  db: Database,
  selection: InstanceSelection,
): Promise<InstancePage> {
  const { limit = Infinity } = selection;
  const found: StoredInstance[] = [];
  for await (const some of selectEach(db, selection)) {
    found.push(...some);
    if (found.length > limit) break;
  }
  return { instances: found.slice(0, limit), isLast: found.length <= limit };
}

/** All instances for a selection, some at a time; other requests are answered between them. */
export async function* selectEach(
  db: Database,
  { project, start_ns, end_ns, tags = {}, limit, after }: InstanceSelection,
): AsyncGenerator<StoredInstance[]> {
  const args = {
    project: project.id,
    project_name: project.name,
    start_ns,
    tags: JSON.stringify(Object.entries(tags)),
    looked_at: LOOKED_AT,
    // One row more shows that there is another page.
    limit: Math.min(AT_ONCE, (limit ?? AT_ONCE) + 1),
  };
  let before: Before | undefined = after && after.listed_ns <= end_ns
    ? { before_ns: after.listed_ns, before_id: after.id }
    : { before_ns: end_ns, before_id: LAST_NS };
  while (before) {
    const [selected, last] = await db.read([
      statement(SELECT, { ...args, ...before }),
      statement(LAST_LOOKED_AT, { ...args, ...before }),
    ]);
    const instances = selected!.rows.map((row) => storedInstance(row, project.name));
    yield instances;
    const oldest = instances.length < args.limit ? undefined : instances.at(-1);
    before = oldest
      ? { before_ns: oldest.listed_ns, before_id: oldest.id }
      : last!.rows[0] as unknown as Before | undefined;
    if (before) await yieldToEventLoop();
  }
}

/** Where a list goes on: in front of this instance. */
type Before = { before_ns: bigint; before_id: bigint };

/** The condition that an instance follows in the list, the newest first. */
const FOLLOWS = "project = :project AND (listed_ns, id) < (:before_ns, :before_id)";
const NEWEST_FIRST = "ORDER BY listed_ns DESC, id DESC";

/** The last instance that is looked at; none if there are no others behind it. */
const LAST_LOOKED_AT = `SELECT listed_ns AS before_ns, id AS before_id FROM instances
  WHERE ${FOLLOWS} ${NEWEST_FIRST} LIMIT 1 OFFSET :looked_at - 1`;

/** The selected ones up to that. Tags that the service adds replace others of their name. */
const SELECT = `WITH last AS (${LAST_LOOKED_AT})
  SELECT ${INSTANCE_COLUMNS} FROM instances i WHERE ${FOLLOWS}
    AND (listed_ns, id) >= (
      coalesce((SELECT before_ns FROM last), -1), coalesce((SELECT before_id FROM last), 0)
    )
    AND min(last_seen_ns, received_ns) >= :start_ns
    AND NOT EXISTS (
      SELECT value ->> 0 AS wanted FROM json_each(:tags) w WHERE value ->> 1 IS NOT CASE wanted
        WHEN 'instance.id' THEN i.instance_id WHEN 'api_key.name' THEN i.key
        WHEN 'project.name' THEN :project_name
        ELSE (SELECT t.value FROM json_each(i.tags) t WHERE t.key = wanted)
      END
    )
  ${NEWEST_FIRST} LIMIT :limit`;

/** A tag filter, as `formatTags` writes it. */
export const tagFilter: Format<Tags> = { parse: parseTags, schema: { type: "string" } };
