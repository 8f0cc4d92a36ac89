import { SECOND_NS } from "@service/core/time";
import { type Database, statement } from "../database/database.ts";
import { NOTHING_IS_COPIED } from "../database/write_block.ts";

/** Nanoseconds in a day. */
export const DAY_NS: bigint = 86_400n * SECOND_NS;

/** Rows of each kind that are removed in one write, so that no other write waits long. */
export const PURGE_ROWS = 1_000;

/** The instant before which nothing is kept. */
export function retainedFrom(now_ns: bigint, retention_days: number): bigint {
  return now_ns - BigInt(retention_days) * DAY_NS;
}

/**
 * Removes what ended at or before `before_ns`, and instances that have nothing left and were
 * silent since: at most {@linkcode PURGE_ROWS} of each. Says whether that was all.
 */
export async function purge(db: Database, before_ns: bigint): Promise<boolean> {
  const args = { before_ns, rows: PURGE_ROWS };
  const results = await db.write(PURGE.map((sql) => statement(sql, args)));
  return results.every(({ rowsAffected }) => rowsAffected < PURGE_ROWS);
}

const GONE = `SELECT id FROM instances i WHERE last_seen_ns <= :before_ns
  AND received_ns <= :before_ns AND NOT EXISTS (SELECT 1 FROM windows WHERE instance = i.id)
  AND NOT EXISTS (SELECT 1 FROM entries WHERE instance = i.id) LIMIT :rows`;

const PURGE = [
  `/* purge windows */ DELETE FROM windows WHERE id IN
    (SELECT id FROM windows WHERE end_ns <= :before_ns LIMIT :rows)`,
  `DELETE FROM entries WHERE id IN
    (SELECT id FROM entries WHERE to_ns <= :before_ns LIMIT :rows)`,
  `DELETE FROM dictionaries WHERE instance IN (${GONE})`,
  `DELETE FROM instances WHERE id IN (${GONE})`,
].map((sql) => `${sql} AND ${NOTHING_IS_COPIED}`);
