import { type Database, statement } from "../database/database.ts";
import { lastSpanEnd, type Level, spanEnd, spanNs } from "./levels.ts";
import type { MaintainedInstance } from "./instance.ts";
import { DAY_NS } from "./retention.ts";

/** How long windows are kept as they came, and how long an instance is silent to be given up. */
export const RAW_NS: bigint = 2n * DAY_NS;

/** How long the roll-ups of a minute are kept. */
export const MINUTES_NS: bigint = 7n * DAY_NS;

/** Rows that one step removes, and those of the span begun. */
const ROWS = 1_000;

/**
 * Removes windows, and later roll-ups of a minute, that a coarser roll-up stands for, when they are
 * old enough and nothing more can come among them. Says how far it got, and notes it in `instance`.
 */
export async function condense(
  db: Database,
  instance: MaintainedInstance,
  now_ns: bigint,
): Promise<"all" | "some" | "none"> {
  const isSilent = now_ns - instance.received_ns >= RAW_NS;
  const windows = await step(db, instance, {
    level: 60,
    finer: 0,
    column: "condensed_ns",
    to_ns: lesser(lastSpanEnd(now_ns - RAW_NS, 60), settled(instance, isSilent)),
  });
  if (windows !== "all") return windows;
  return await step(db, instance, {
    level: 600,
    finer: 60,
    column: "condensed_minutes_ns",
    to_ns: lastSpanEnd(lesser(now_ns - MINUTES_NS, instance.condensed_ns), 600),
  });
}

/** The end of the last minute that nothing more is waited for in. */
function settled(instance: MaintainedInstance, isSilent: boolean): bigint {
  const { watermark_ns, final_ns, last_seen_ns } = instance;
  if (watermark_ns === final_ns) return spanEnd(final_ns, 60);
  return lastSpanEnd(isSilent ? last_seen_ns : watermark_ns, 60);
}

interface Step {
  /** The roll-ups that stand for … */
  level: Level;
  /** … what is removed. */
  finer: 0 | Level;
  /** Says how far it went. */
  column: "condensed_ns" | "condensed_minutes_ns";
  to_ns: bigint;
}

async function step(
  db: Database,
  instance: MaintainedInstance,
  { level, finer, column, to_ns }: Step,
): Promise<"all" | "some" | "none"> {
  if (to_ns <= instance[column]) return "all";
  const { rows: [beyond] } = await db.query(
    statement(ROW_BEYOND, { instance: instance.id, finer, rows: ROWS }),
  );
  const at_ns = beyond ? lesser(to_ns, spanEnd(beyond.end_ns as bigint, level)) : to_ns;
  const { id, received_ns } = instance;
  const args = { instance: id, level, finer, at_ns, received_ns, seen_ns: instance[column] };
  const [moved] = await db.write([
    statement(moveUp(column, level), args),
    statement(REMOVE, args),
    statement(rollAgain(column), args),
  ]);
  if (moved!.rowsAffected === 0) return "none";
  instance[column] = at_ns;
  return at_ns === to_ns ? "all" : "some";
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

const ROW_BEYOND = `SELECT end_ns FROM windows WHERE instance = :instance AND level = :finer
  ORDER BY end_ns LIMIT 1 OFFSET :rows`;

/** What has not come by now will not be waited for any more, unless nothing is missing. */
const IS_GIVEN_UP = "final_ns IS NOT watermark_ns AND watermark_ns < :at_ns";

/** Only where roll-ups stand for all that goes, and nothing came since it was looked at. */
const moveUp = (column: string, level: Level) =>
  `/* replace windows by roll-ups */ UPDATE instances SET
    ${column} = :at_ns,
    given_up_ns = iif(${IS_GIVEN_UP}, :at_ns, given_up_ns),
    watermark_ns = iif(${IS_GIVEN_UP}, :at_ns, watermark_ns)
  WHERE id = :instance AND ${column} = :seen_ns AND received_ns = :received_ns AND NOT EXISTS (
    SELECT 1 FROM windows w
    WHERE instance = :instance AND level = :finer AND end_ns <= :at_ns AND NOT EXISTS (
      SELECT 1 FROM windows WHERE instance = :instance AND level = :level
        AND end_ns = (w.end_ns + ${spanNs(level) - 1n}) / ${spanNs(level)} * ${spanNs(level)}
    )
  )`;

const REMOVE = `DELETE FROM windows
  WHERE instance = :instance AND level = :finer AND end_ns <= :at_ns AND changes() > 0`;

/** Where a roll-up is missing, all are looked for again. */
const rollAgain = (column: string) =>
  `UPDATE instances SET rolled_ns = min(rolled_ns, condensed_minutes_ns)
    WHERE id = :instance AND ${column} < :at_ns`;
