/** The retention: rows are removed when they are too old. */

import { type Database, statement } from "../database/database.ts";
import { NOTHING_IS_COPIED } from "../database/write_block.ts";
import { DAY_NS } from "./levels.ts";

/** Rows of each kind that are removed in one write, so that no other write waits long. */
export const PURGE_ROWS = 1_000;

/** The instant up to which everything is removed. */
export function retainedFrom(now_ns: bigint, retention_days: number): bigint {
  return now_ns - BigInt(retention_days) * DAY_NS;
}

/**
 * Removes windows and entries that ended, or were received, at or before `before_ns`, and instances
 * without any that were silent since: at most {@linkcode PURGE_ROWS} of each. `true` if nothing is left to remove.
 */
export async function purge(db: Database, before_ns: bigint): Promise<boolean> {
  const args = { before_ns, rows: PURGE_ROWS };
  const results = await db.write(PURGE.map((sql) => statement(sql, args)));
  return results.every(({ rowsAffected }) => rowsAffected < PURGE_ROWS);
}

const GONE = `SELECT id FROM instances i WHERE received_ns <= :before_ns
  AND NOT EXISTS (SELECT 1 FROM windows WHERE instance = i.id)
  AND NOT EXISTS (SELECT 1 FROM entries WHERE instance = i.id) LIMIT :rows`;

const PURGE = [
  `/* purge windows */ DELETE FROM windows WHERE id IN
    (SELECT id FROM windows WHERE min(end_ns, received_ns) <= :before_ns LIMIT :rows)`,
  `DELETE FROM entries WHERE id IN
    (SELECT id FROM entries WHERE min(to_ns, received_ns) <= :before_ns LIMIT :rows)`,
  `DELETE FROM passed WHERE id IN
    (SELECT id FROM passed WHERE passed_ns <= :before_ns LIMIT :rows)`,
  `DELETE FROM passed WHERE instance IN (${GONE})`,
  `DELETE FROM blocks WHERE instance IN (${GONE})`,
  `DELETE FROM instances WHERE id IN (${GONE})`,
].map((sql) => `${sql} AND ${NOTHING_IS_COPIED}`);
