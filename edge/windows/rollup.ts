/** Roll-ups: all windows that end in an aligned span, merged into one. */

import { gapsIn } from "@service/core/gaps";
import { SECOND_NS } from "@service/core/time";
import { WindowWriter } from "@service/core/packed";
import { type Database, statement } from "../database/database.ts";
import type { Blocks } from "./blocks.ts";
import { closedBetween, FINEST, type Level, LEVELS, spanEnd, spanNs } from "./levels.ts";
import { blockRows, mergePieces, namesOf, PIECES, PIECES_NAMED } from "./pieces.ts";
import { storedMerge } from "./stored_frame.ts";

/** Pieces of a roll-up that is made during an upload; larger ones are left to the maintenance. */
const MAX_PIECES_AT_INGEST = 128;

/** The roll-up to make. */
export interface RollupOptions {
  blocks: Blocks;
  /** Row id of the project. */
  project: bigint;
  /** Row id of the instance. */
  instance: bigint;
  level: Level;
  end_ns: bigint;
  /** With more pieces it is not made. */
  max_pieces: number;
}

/**
 * Makes the roll-up of a span from the fewest finer pieces; `false` if it was not stored. It is stored
 * only if the span still has exactly these pieces: another process may have stored a window meanwhile.
 */
export async function rollUp(db: Database, options: RollupOptions): Promise<boolean> {
  const { blocks, project, max_pieces, ...rest } = options;
  const start_ns = rest.end_ns - spanNs(rest.level);
  const args = { ...rest, start_ns, below: rest.level, limit: max_pieces + 1 };
  const { rows } = await db.query(statement(PIECES, args));
  if (rows.length === 0 || rows.length > max_pieces) return false;
  const { window, block, intervals, damaged } = await mergePieces(rows, {
    blocks: await blocks.load(db, project, blockRows(rows)),
    onDamage: blocks.onDamage,
  });
  // Without a damaged piece it would be wrong, and hide that the piece is damaged.
  if (!window || !block || damaged.length > 0) return false;
  const { from_ns } = intervals[0]!;
  const { to_ns } = window;
  const gaps = gapsIn(intervals, { from_ns, to_ns });
  const merged = { window: { ...window, from_ns }, block, gaps };
  const stored = storedMerge(new WindowWriter(), merged);
  // Reads merge its pieces, which stay for as long as there is no roll-up.
  if (!stored) return false;
  const results = await db.write([
    statement(INSERT_ROLLUP, {
      ...args,
      from_ns,
      to_ns,
      ...stored,
      hash: Uint8Array.fromHex(block.hash),
      pieces: namesOf(rows),
    }),
  ]);
  return results.at(-1)!.rowsAffected > 0;
}

/** A window that was stored, and the ends of minutes that were rolled up with it. */
export type ClosingOptions = Omit<RollupOptions, "level" | "end_ns" | "max_pieces"> & {
  from_ns: bigint;
  to_ns: bigint;
  /** End of the instance's newest window. */
  last_seen_ns: bigint;
  rolled: bigint[];
};

/**
 * Longest time between the end of a span and its roll-up, in seconds: spans of all instances end at the
 * same instant, and their roll-ups are spread over this time.
 */
const MAX_LAG_S: Record<Level, number> = { 60: 0, 600: 540, 7_200: 1_800, 86_400: 7_200 };

/** Golden-ratio sequence: its multiples spread instances evenly over the lag. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

function lagNs(instance: bigint, level: Level): bigint {
  const part = Number(instance) * GOLDEN_RATIO % 1;
  return BigInt(Math.floor(part * MAX_LAG_S[level])) * SECOND_NS;
}

/**
 * Makes the roll-ups that are due after a window was stored, the finest first. Those that are due after
 * the last window of an instance are left to the maintenance.
 */
export async function rollUpClosed(db: Database, options: ClosingOptions): Promise<void> {
  const { from_ns, to_ns, last_seen_ns, rolled, ...rest } = options;
  for (const level of LEVELS) {
    const lag_ns = lagNs(rest.instance, level);
    const ends = closedBetween(from_ns - lag_ns, to_ns - lag_ns, level);
    // The minute of a window that is not the newest lost its roll-up, or had to wait for it.
    const own_ns = spanEnd(to_ns, level);
    if (level === FINEST && own_ns <= last_seen_ns && !ends.includes(own_ns)) ends.push(own_ns);
    for (const end_ns of ends) {
      if (level === FINEST && rolled.includes(end_ns)) continue;
      await rollUp(db, { ...rest, level, end_ns, max_pieces: MAX_PIECES_AT_INGEST });
    }
  }
}

const INSERT_ROLLUP = `/* insert the roll-up */ INSERT INTO windows
    (instance, level, end_ns, from_ns, to_ns, received_ns, digest, block, body)
  SELECT i.id, :level, :end_ns, :from_ns, :to_ns, i.received_ns, :digest, b.id, :body
  FROM instances i JOIN blocks b ON b.instance = i.id
  WHERE i.id = :instance AND hash = :hash AND :pieces = (${PIECES_NAMED})
  ON CONFLICT DO NOTHING`;
