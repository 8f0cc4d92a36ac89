/** The pieces that a read or a roll-up merges: the query for them, and the merge. */

import { absorbOwned, decode, emptyWindow, encode, type Window } from "@service/core";
import { gapsIn, type Interval, joinInterval } from "@service/core/gaps";
import { type Block, DamagedError, readWindow } from "@service/core/packed";
import { yieldToEventLoop } from "@service/core/yield";
import type { Row } from "../database/database.ts";
import { isDamage } from "./damage.ts";
import { storedFrame } from "./stored_frame.ts";
import { TILING } from "./tiling.ts";

/** The pieces of a tiling in order, each with the hash of its block. */
export const PIECES = `/* read the pieces */ ${TILING}
  SELECT w.level || ':' || w.id AS id, w.from_ns, w.to_ns, w.holes, w.body, w.block, b.hash
  FROM tile JOIN windows w ON w.id = tile.id LEFT JOIN blocks b ON b.id = w.block
  ORDER BY w.end_ns LIMIT :limit`;

/** A text that identifies the pieces of a tiling. */
export const PIECES_NAMED = `${TILING}
  SELECT group_concat(name) FROM (
    SELECT level || ':' || id AS name FROM tile WHERE id IS NOT NULL ORDER BY at_ns
  )`;

/** Several pieces as one. */
export interface Merged {
  window: Window;
  /** The block of the last piece that could be read. */
  block: Block | undefined;
  /** The spans of the windows that could be read; those that touch are one. */
  intervals: Interval[];
  /** The spans of those that are damaged, or whose block is. */
  damaged: Interval[];
  /** The spans of both; those that touch are one. */
  stored: Interval[];
}

/** Pieces that are merged before other work may run. */
const PIECES_AT_ONCE = 16;

/** What pieces are merged with. */
export interface MergeOptions {
  /** Their blocks, by hash; a damaged one is missing. */
  blocks: ReadonlyMap<string, Block>;
  /** Whether series of this name are read; all when absent. */
  wanted?: (name: string) => boolean;
  /** Called for each damaged piece. */
  onDamage: (error: Error) => void;
}

/** The row ids of the blocks of pieces, which are rows of {@linkcode PIECES}, by their hashes. */
export function blockRows(rows: readonly Row[]): Map<string, bigint> {
  return new Map(rows.flatMap((row) => {
    const hash = hashOf(row);
    return hash === undefined ? [] : [[hash, row.block as bigint]];
  }));
}

/** The merge of the pieces, which are rows of {@linkcode PIECES}; without any it is at `start_ns`. */
export async function mergePieces(
  rows: readonly Row[],
  { start_ns, onDamage, ...options }: MergeOptions & { start_ns: bigint },
): Promise<Merged> {
  const merged: Pick<Merged, "intervals" | "damaged" | "stored"> = {
    intervals: [],
    damaged: [],
    stored: [],
  };
  let window: Window | undefined;
  let block: Block | undefined;
  for (const [i, row] of rows.entries()) {
    if (i % PIECES_AT_ONCE === PIECES_AT_ONCE - 1) await yieldToEventLoop();
    const span = { from_ns: row.from_ns as bigint, to_ns: row.to_ns as bigint };
    try {
      const piece = pieceOf(row, options);
      window ??= emptyWindow(span.from_ns);
      absorbOwned(window, piece.window);
      block = piece.block;
      for (const interval of intervalsOf(span, row.holes as string | null)) {
        joinInterval(merged.intervals, interval);
        joinInterval(merged.stored, interval);
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      onDamage(new Error(`Cannot read row ${row.id} of windows: ${error.message}`));
      merged.damaged.push(span);
      joinInterval(merged.stored, span);
    }
  }
  return { window: window ?? emptyWindow(start_ns), block, ...merged };
}

/** The holes of a merge as they are stored: `null` for none. */
export function encodeHoles(intervals: Interval[]): string | null {
  const span = { from_ns: intervals[0]!.from_ns, to_ns: intervals.at(-1)!.to_ns };
  const holes = gapsIn(intervals, span);
  return holes.length > 0 ? encode(holes) : null;
}

/**
 * The window of a row, and its block.
 *
 * @throws {DamagedError} If the row has another window than the one that was stored, or none.
 */
function pieceOf(
  row: Row,
  { blocks, wanted }: Pick<MergeOptions, "blocks" | "wanted">,
): { window: Window; block: Block } {
  const hash = hashOf(row);
  const block = blocks.get(hash ?? "");
  if (!block) throw new DamagedError("its block is missing");
  const read = readWindow(storedFrame(row.body as ArrayBuffer), { table: block.table, wanted });
  if (read.block !== hash || read.from_ns !== row.from_ns || read.to_ns !== row.to_ns) {
    throw new DamagedError("it must be the window that the row names");
  }
  return { window: read.window, block };
}

function hashOf({ hash }: Row): string | undefined {
  return hash === null ? undefined : new Uint8Array(hash as ArrayBuffer).toHex();
}

function intervalsOf(span: Interval, holes: string | null): Interval[] {
  return holes === null ? [span] : gapsIn(decode(holes) as Interval[], span);
}
