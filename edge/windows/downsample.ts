/** Downsampling: windows, and later roll-ups of a minute, are replaced by coarser roll-ups. */

import { earlier } from "@service/core/time";
import { type Database, statement } from "../database/database.ts";
import type { MaintainedInstance } from "./instance.ts";
import { FINEST, lastSpanEnd, type Level, spanEnd, spanNs, type Tier, TIERS } from "./levels.ts";

/** Progress of a step. */
export type Progress = "all" | "some" | "none";

/** Rows that one step removes, and those of the span in which the last of them ends. */
const STEP_ROWS = 1_000;

/**
 * One step: removes windows or roll-ups that are old enough, have a coarser roll-up, and can get no late
 * window. Sets the new position in `instance`.
 */
export async function downsample(
  db: Database,
  instance: MaintainedInstance,
  now_ns: bigint,
): Promise<Progress> {
  let limit_ns = settledEnd(instance);
  for (const tier of TIERS) {
    const to_ns = lastSpanEnd(earlier(now_ns - tier.after_ns, limit_ns), tier.kept);
    const progress = await step(db, instance, { tier, to_ns });
    if (progress !== "all") return progress;
    limit_ns = instance[tier.column];
  }
  return "all";
}

/** The end of the last minute for which no window is awaited. */
function settledEnd({ watermark_ns, final_ns }: MaintainedInstance): bigint {
  return watermark_ns === final_ns ? spanEnd(final_ns, FINEST) : watermark_ns;
}

async function step(
  db: Database,
  instance: MaintainedInstance,
  { tier: { removed, kept, column }, to_ns }: { tier: Tier; to_ns: bigint },
): Promise<Progress> {
  if (to_ns <= instance[column]) return "all";
  const { id, received_ns } = instance;
  const { rows: [beyond] } = await db.query(
    statement(ROW_BEYOND, { instance: id, removed, rows: STEP_ROWS }),
  );
  const at_ns = beyond ? earlier(to_ns, spanEnd(beyond.end_ns as bigint, kept)) : to_ns;
  const args = { instance: id, removed, kept, at_ns, received_ns, seen_ns: instance[column] };
  const [advanced] = await db.write([
    statement(advance(column, kept), args),
    statement(REMOVE, args),
    statement(rollUpAgain(column), args),
  ]);
  if (advanced!.rowsAffected === 0) return "none";
  instance[column] = at_ns;
  return at_ns === to_ns ? "all" : "some";
}

const ROW_BEYOND = `SELECT end_ns FROM windows WHERE instance = :instance AND level = :removed
  ORDER BY end_ns LIMIT 1 OFFSET :rows`;

/** Only if all removed rows have a roll-up, and no window arrived since the instance was read. */
const advance = (column: string, kept: Level) =>
  `/* replace windows by roll-ups */ UPDATE instances SET ${column} = :at_ns
  WHERE id = :instance AND ${column} = :seen_ns AND received_ns = :received_ns AND NOT EXISTS (
    SELECT 1 FROM windows w
    WHERE instance = :instance AND level = :removed AND end_ns <= :at_ns AND NOT EXISTS (
      SELECT 1 FROM windows WHERE instance = :instance AND level = :kept
        AND end_ns = (w.end_ns + ${spanNs(kept) - 1n}) / ${spanNs(kept)} * ${spanNs(kept)}
    )
  )`;

const REMOVE = `DELETE FROM windows
  WHERE instance = :instance AND level = :removed AND end_ns <= :at_ns AND changes() > 0`;

/** If a roll-up is missing, all are searched again. */
const rollUpAgain = (column: string) =>
  `UPDATE instances SET rolled_ns = min(rolled_ns, downsampled_minutes_ns)
    WHERE id = :instance AND ${column} < :at_ns`;
