/** Instances as they are stored, listed and maintained. */

import { createHash } from "node:crypto";
import { type Instance, type Tags, tsFromNs } from "@service/core";
import { resourceIdentity } from "@service/core/resource_id";
import { type Database, type Row, statement } from "../database/database.ts";

/** An instance as it is stored. */
export interface StoredInstance {
  /** Row id. */
  id: bigint;
  instance_id: string;
  /** All its tags, with those the service adds. */
  tags: Tags;
  attributes: Tags;
  /** The tags of its newest upload. */
  uploaded_tags: Tags;
  profiler_version: string;
  start_ns: bigint;
  /** End of the unbroken chain of its windows. */
  watermark_ns: bigint;
  /** End of its last window, once that has come. */
  final_ns: bigint | null;
  /** When its workload ended, if its last window has said so. */
  ended_ns: bigint | null;
  /** End of its newest window. */
  last_seen_ns: bigint;
  /** When it last sent something new, by the clock of the service. */
  received_ns: bigint;
  /** Its start, or its first upload if that was earlier by the clock of the service. */
  listed_ns: bigint;
  /** Number of its windows that came when reads had passed them. */
  late_windows: bigint;
}

/** An instance as reads of its windows need it. */
export interface FoundInstance extends StoredInstance {
  /** The gap at the watermark: its end, and the arrival of the window behind it; `null`: none. */
  waiting: { to_ns: bigint; since_ns: bigint } | null;
}

/** Columns of `instances` that {@linkcode storedInstance} reads. */
export const INSTANCE_COLUMNS =
  "id, instance_id, key, tags, attributes, profiler_version, start_ns, " +
  "watermark_ns, final_ns, ended_ns, last_seen_ns, received_ns, listed_ns, late_windows";

/** The project's instance of that id, or `null`. */
export async function findInstance(
  db: Database,
  project: { id: bigint; name: string },
  instance_id: string,
): Promise<FoundInstance | null> {
  const found = await findInstances(db, project, [instance_id]);
  return found.get(instance_id) ?? null;
}

/** The project's instances of these ids, by id; those that are not known are left out. */
export async function findInstances(
  db: Database,
  project: { id: bigint; name: string },
  ids: readonly string[],
): Promise<Map<string, FoundInstance>> {
  const { rows } = await db.query(
    statement(FIND, { project: project.id, ids: JSON.stringify(ids) }),
  );
  return new Map(
    rows.map((row) => [row.instance_id as string, foundInstance(row, project.name)]),
  );
}

function foundInstance(row: Row, project: string): FoundInstance {
  const to_ns = row.gap_to_ns as bigint | null;
  return {
    ...storedInstance(row, project),
    waiting: to_ns === null ? null : { to_ns, since_ns: row.waiting_ns as bigint },
  };
}

/** A column of the first window behind the watermark, if there is a gap. */
function behindGap(column: string): string {
  return `iif(last_seen_ns > watermark_ns, (SELECT ${column} FROM windows w
    WHERE instance = i.id AND level = 0 AND end_ns > watermark_ns ORDER BY end_ns LIMIT 1), NULL)`;
}

const FIND = `/* find the instances */ SELECT ${INSTANCE_COLUMNS},
    ${behindGap("w.from_ns")} AS gap_to_ns, ${behindGap("w.received_ns")} AS waiting_ns
  FROM instances i
  WHERE project = :project AND instance_id IN (SELECT value FROM json_each(:ids))`;

/** The instance of a row. */
export function storedInstance(row: Row, project: string): StoredInstance {
  const instance_id = row.instance_id as string;
  const uploaded_tags: Tags = JSON.parse(row.tags as string);
  return {
    id: row.id as bigint,
    instance_id,
    tags: {
      ...uploaded_tags,
      "instance.id": instance_id,
      "api_key.name": row.key as string,
      "project.name": project,
    },
    attributes: JSON.parse(row.attributes as string),
    uploaded_tags,
    profiler_version: row.profiler_version as string,
    start_ns: row.start_ns as bigint,
    watermark_ns: row.watermark_ns as bigint,
    final_ns: row.final_ns as bigint | null,
    ended_ns: row.ended_ns as bigint | null,
    last_seen_ns: row.last_seen_ns as bigint,
    received_ns: row.received_ns as bigint,
    listed_ns: row.listed_ns as bigint,
    late_windows: row.late_windows as bigint,
  };
}

/** The instance in a list. */
export function listed(instance: StoredInstance): Instance {
  const { instance_id, tags, attributes, start_ns, ended_ns, last_seen_ns } = instance;
  return {
    instance_id,
    resource_id: resourceId(tags),
    tags,
    attributes,
    first_seen_ts: tsFromNs(start_ns),
    last_seen_ts: tsFromNs(ended_ns ?? last_seen_ns),
  };
}

function resourceId(tags: Tags): string {
  return createHash("sha256").update(resourceIdentity(tags)).digest("hex").slice(0, 16);
}

/** An instance as the maintenance reads it. */
export interface MaintainedInstance {
  id: bigint;
  project: bigint;
  instance_id: string;
  watermark_ns: bigint;
  final_ns: bigint | null;
  last_seen_ns: bigint;
  received_ns: bigint;
  /** Up to here all roll-ups were made. */
  rolled_ns: bigint;
  /** Up to here windows were removed: only roll-ups are left. */
  downsampled_ns: bigint;
  /** Up to here roll-ups of a minute were removed too. */
  downsampled_minutes_ns: bigint;
  due_ns: bigint;
}

/** Columns of `instances` that {@linkcode maintainedInstance} reads. */
export const MAINTENANCE_COLUMNS = "id, project, instance_id, watermark_ns, final_ns, " +
  "last_seen_ns, received_ns, rolled_ns, downsampled_ns, downsampled_minutes_ns, due_ns";

/** The instance of a row, as the maintenance reads it. */
export function maintainedInstance(row: Row): MaintainedInstance {
  return row as unknown as MaintainedInstance;
}
