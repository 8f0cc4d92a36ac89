/** The pieces that a read or a roll-up merges: the query for them, and the merge. */

import { absorbOwned, decode, emptyWindow, encode, type Window } from "@service/core";
import { gapsIn, type Interval, joinInterval } from "@service/core/gaps";
import { type Block, DamagedError, readBlock, readWindow } from "@service/core/packed";
import { yieldToEventLoop } from "@service/core/yield";
import type { Row } from "../database/database.ts";
import type { Blocks } from "./blocks.ts";
import { storedFrame } from "./stored_frame.ts";
import { TILING } from "./tiling.ts";

/** The pieces of a tiling in order, the body of each block with the first that names it. */
export const PIECES = `/* read the pieces */ ${TILING}
  SELECT w.level || ':' || w.id AS id, w.from_ns, w.to_ns, w.holes, w.body, w.block, b.hash,
    CASE WHEN row_number() OVER (PARTITION BY w.block ORDER BY w.end_ns) = 1 THEN b.body END
      AS block_body
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
  /** The block of the last piece. */
  block: Block | undefined;
  /** The spans of the windows; those that touch are one. */
  intervals: Interval[];
}

/** Pieces that are merged before other work may run. */
const PIECES_AT_ONCE = 16;

/** Where the merge starts, and the blocks of the project that need not be read. */
export interface MergeOptions {
  start_ns: bigint;
  /** Row id. */
  project?: bigint;
  blocks?: Blocks;
}

/** The merge of the pieces, which are rows of {@linkcode PIECES}. */
export async function mergePieces(rows: Row[], options: MergeOptions): Promise<Merged> {
  const window = emptyWindow(options.start_ns);
  const blocks = new Map<unknown, Block>();
  const intervals: Interval[] = [];
  let block: Block | undefined;
  for (const [i, row] of rows.entries()) {
    if (i % PIECES_AT_ONCE === PIECES_AT_ONCE - 1) await yieldToEventLoop();
    if (row.block_body) blocks.set(row.block, await blockOf(row, options));
    block = blocks.get(row.block);
    if (!block) throw new DamagedError("a window must have its block");
    const span = { from_ns: row.from_ns as bigint, to_ns: row.to_ns as bigint };
    const { table } = block;
    absorbOwned(window, readWindow(storedFrame(row.body as ArrayBuffer), { table }).window);
    for (const interval of intervalsOf(span, row.holes as string | null)) {
      joinInterval(intervals, interval);
    }
  }
  return { window, block, intervals };
}

/** The holes of a merge as they are stored: `null` for none. */
export function encodeHoles(intervals: Interval[]): string | null {
  const span = { from_ns: intervals[0]!.from_ns, to_ns: intervals.at(-1)!.to_ns };
  const holes = gapsIn(intervals, span);
  return holes.length > 0 ? encode(holes) : null;
}

async function blockOf(
  { hash, block_body }: Row,
  { project = 0n, blocks }: MergeOptions,
): Promise<Block> {
  const name = { project, hash: new Uint8Array(hash as ArrayBuffer).toHex() };
  return blocks?.get(name)?.block ?? await readBlock(storedFrame(block_body as ArrayBuffer));
}

function intervalsOf(span: Interval, holes: string | null): Interval[] {
  return holes === null ? [span] : gapsIn(decode(holes) as Interval[], span);
}
