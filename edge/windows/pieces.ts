/** The pieces that a read or a roll-up merges: the query for them, and their merge. */

import { yieldToEventLoop } from "@service/core/yield";
import type { Row } from "../database/database.ts";
import { hashOf, Merge, type MergeOptions } from "./merge.ts";
import type { Runs } from "./runs.ts";
import { TILING } from "./tiling.ts";

/** The pieces of a tiling in order, each with the hash of its block. */
export const PIECES = `/* read the pieces */ ${TILING}
  SELECT w.level || ':' || w.id AS id, w.level, w.from_ns, w.to_ns, w.body, w.block, b.hash
  FROM tile JOIN windows w ON w.id = tile.id LEFT JOIN blocks b ON b.id = w.block
  ORDER BY w.end_ns LIMIT :limit`;

/** A text that identifies the pieces of a tiling. */
export const PIECES_NAMED = `${TILING}
  SELECT group_concat(name) FROM (
    SELECT level || ':' || id AS name FROM tile WHERE id IS NOT NULL ORDER BY at_ns
  )`;

/** Pieces that are merged before other work may run. */
const PIECES_AT_ONCE = 16;

/** The row ids of the blocks of pieces, which are rows of {@linkcode PIECES}, by their hashes. */
export function blockRows(rows: readonly Row[]): Map<string, bigint> {
  return new Map(rows.flatMap((row) => {
    const hash = hashOf(row);
    return hash === undefined ? [] : [[hash, row.block as bigint]];
  }));
}

/** The merge of pieces, which are rows of {@linkcode PIECES}; of runs that are in memory if given. */
export async function mergePieces(
  rows: readonly Row[],
  { runs, ...options }: MergeOptions & { runs?: Runs },
): Promise<Merge> {
  const merge = new Merge();
  let added = 0;
  for (const run of runsOf(rows)) {
    if (added >= PIECES_AT_ONCE) {
      await yieldToEventLoop();
      added = 0;
    }
    if (runs) {
      const found = runs.merge(run, options);
      merge.append(found.merge);
      added += found.added;
    } else {
      for (const row of run) merge.add(row, options);
      added += run.length;
    }
  }
  return merge;
}

/** Consecutive pieces of one level, not too many. */
function runsOf(rows: readonly Row[]): Row[][] {
  const runs: Row[][] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    if (run && run.length < PIECES_AT_ONCE && run[0]!.level === row.level) run.push(row);
    else runs.push([row]);
  }
  return runs;
}
