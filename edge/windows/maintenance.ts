/** The maintenance of a database: missing roll-ups, downsampling, retention. */

import { LAST_NS, SECOND_NS } from "@service/core/time";
import type { Blocks } from "./blocks.ts";
import { downsample, type Progress } from "./downsample.ts";
import { type Database, statement } from "../database/database.ts";
import { IS_BLOCKED } from "../database/write_block.ts";
import { type MaintainedInstance, maintainedInstance, MAINTENANCE_COLUMNS } from "./instance.ts";
import { FINEST, lastSpanEnd, type Level, LEVELS, spanNs, TIERS } from "./levels.ts";
import { passing } from "./passed.ts";
import { purge, retainedFrom } from "./retention.ts";
import { rollUp } from "./rollup.ts";

/** The time of the maintenance, and the age at which rows are removed. */
export interface MaintenanceOptions {
  blocks: Blocks;
  now_ns: bigint;
  retention_days: number;
}

interface TurnOptions {
  blocks: Blocks;
  now_ns: bigint;
  before_ns: bigint;
}

/** Instances that have their turn in one run. */
const MAX_INSTANCES = 20;

/** Roll-ups of each level that are made for an instance in its turn. */
const MAX_ROLLUPS = 50;

/** Pieces of one roll-up: a minute of windows of less than a millisecond. */
const MAX_PIECES = 100_000;

/** Time between two turns of an instance that is not done. */
const TURN_EVERY_NS = 3_600n * SECOND_NS;

/**
 * Removes rows older than the retention, makes missing roll-ups, and downsamples: a bounded part of the
 * work. `true` if nothing is left to do now.
 */
export async function maintain(
  db: Database,
  { now_ns, retention_days, blocks }: MaintenanceOptions,
): Promise<boolean> {
  const before_ns = retainedFrom(now_ns, retention_days);
  if (!await purge(db, before_ns)) return false;
  const turn = { now_ns, before_ns, blocks };
  const due = () => db.query(statement(DUE, { now_ns, limit: MAX_INSTANCES }));
  for (const row of (await due()).rows) {
    await takeTurn(db, maintainedInstance(row), turn);
  }
  return (await due()).rows.length === 0;
}

async function takeTurn(
  db: Database,
  instance: MaintainedInstance,
  { now_ns, before_ns, blocks }: TurnOptions,
): Promise<void> {
  await pass(db, instance, now_ns);
  let progress = await makeRollups(db, instance, blocks);
  if (progress === "all") progress = await downsample(db, instance, now_ns);
  const due_ns = progress === "some" ? now_ns : isDone(instance) ? LAST_NS : now_ns + TURN_EVERY_NS;
  await db.write([
    statement(DROP_BLOCKS, { id: instance.id, before_ns }),
    statement(SET_DUE, { ...instance, seen_ns: instance.due_ns, due_ns }),
  ]);
}

/** Passes gaps that were waited for long enough. */
async function pass(db: Database, instance: MaintainedInstance, now_ns: bigint): Promise<void> {
  if (instance.watermark_ns === instance.last_seen_ns) return;
  const [, moved] = await db.write(passing({ ...instance, now_ns }));
  instance.watermark_ns = (moved!.rows[0]?.watermark_ns ?? instance.watermark_ns) as bigint;
}

/** Whether everything that roll-ups will ever replace was removed. */
function isDone(instance: MaintainedInstance): boolean {
  return TIERS.every(({ column, kept }) =>
    instance[column] >= lastSpanEnd(instance.last_seen_ns, kept)
  );
}

async function makeRollups(
  db: Database,
  { id, project, last_seen_ns, rolled_ns }: MaintainedInstance,
  blocks: Blocks,
): Promise<Progress> {
  let missingCount = 0;
  let madeCount = 0;
  for (const [i, level] of LEVELS.entries()) {
    const finer = i === 0 ? 0 : LEVELS[i - 1]!;
    const from_ns = lastSpanEnd(rolled_ns, level);
    const to_ns = lastSpanEnd(last_seen_ns, level);
    const args = { instance: id, finer, from_ns, to_ns, limit: MAX_ROLLUPS };
    const { rows } = await db.query(statement(missingSpans(level), args));
    missingCount += rows.length;
    for (const { end_ns } of rows) {
      const isMade = await rollUp(db, {
        blocks,
        project,
        instance: id,
        level,
        end_ns: end_ns as bigint,
        max_pieces: MAX_PIECES,
      });
      if (isMade) madeCount++;
    }
    if (rows.length === MAX_ROLLUPS) break;
  }
  if (missingCount > madeCount) return madeCount > 0 ? "some" : "none";
  if (missingCount > 0) return "some";
  await db.write([statement(SET_ROLLED, {
    id,
    seen_ns: rolled_ns,
    rolled_ns: lastSpanEnd(last_seen_ns, FINEST),
  })]);
  return "all";
}

const DUE = `/* find due instances */ SELECT ${MAINTENANCE_COLUMNS}
  FROM instances WHERE due_ns <= :now_ns AND NOT ${IS_BLOCKED} ORDER BY due_ns LIMIT :limit`;

/** Not if a window arrived since: it may have set an earlier turn. */
const SET_DUE = `/* set the next turn */ UPDATE instances SET due_ns = :due_ns
  WHERE id = :id AND due_ns = :seen_ns AND last_seen_ns = :last_seen_ns`;

const SET_ROLLED = `/* note the roll-ups */ UPDATE instances SET rolled_ns = :rolled_ns
  WHERE id = :id AND rolled_ns = :seen_ns`;

/** Ends of spans without a roll-up that are over and in which a piece of the next finer level ends. */
const missingSpans = (level: Level) => {
  const length_ns = spanNs(level);
  const spanOf = (end_ns: string) =>
    `(${end_ns} + ${length_ns - 1n}) / ${length_ns} * ${length_ns}`;
  return `/* find missing roll-ups */ SELECT DISTINCT ${spanOf("end_ns")} AS end_ns FROM windows w
    WHERE instance = :instance AND level = :finer AND end_ns > :from_ns AND end_ns <= :to_ns
      AND NOT EXISTS (SELECT 1 FROM windows
        WHERE instance = :instance AND level = ${level} AND end_ns = ${spanOf("w.end_ns")})
    ORDER BY 1 LIMIT :limit`;
};

/** Blocks without windows that were replaced before the retention. */
const DROP_BLOCKS = `DELETE FROM blocks WHERE instance = :id
  AND id < (SELECT max(id) FROM blocks WHERE instance = :id AND received_ns <= :before_ns)
  AND NOT EXISTS (SELECT 1 FROM windows WHERE instance = :id AND block = blocks.id)`;
