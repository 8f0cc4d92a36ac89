import { SECOND_NS } from "@service/core";
import { type Database, statement } from "./database.ts";

/** Nanoseconds in a day. */
export const DAY_NS: bigint = 86_400n * SECOND_NS;

/** Rows removed in one write, so that no other write waits long. */
export const PURGE_ROWS = 1_000;

/** The instant before which nothing is kept. */
export function retainedFrom(now_ns: bigint, retention_days: number): bigint {
  return now_ns - BigInt(retention_days) * DAY_NS;
}

/**
 * Removes windows that ended at or before `before_ns`, and instances that have none left and were
 * silent since: at most {@linkcode PURGE_ROWS} of each. Says whether that was all.
 */
export async function purge(db: Database, before_ns: bigint): Promise<boolean> {
  const args = { before_ns, rows: PURGE_ROWS };
  const results = await db.write([
    statement(
      `DELETE FROM windows WHERE id IN
        (SELECT id FROM windows WHERE to_ns <= :before_ns LIMIT :rows)`,
      args,
    ),
    statement(
      `DELETE FROM instances WHERE id IN
        (SELECT id FROM instances i WHERE last_seen_ns <= :before_ns AND received_ns <= :before_ns
          AND NOT EXISTS (SELECT 1 FROM windows WHERE instance = i.id) LIMIT :rows)`,
      args,
    ),
  ]);
  return results.every(({ rowsAffected }) => rowsAffected < PURGE_ROWS);
}
