/** The pieces that a read or a roll-up merges: the query for them, and the merge. */

import { absorbOwned, decode, emptyWindow, encode, type Window } from "@service/core";
import { gapsIn, type Interval, joinInterval } from "@service/core/gaps";
import { yieldToEventLoop } from "@service/core/yield";
import type { Row } from "../database/database.ts";
import { type Dictionary, unpackDictionary } from "../format/dictionary.ts";
import { unpack } from "../format/packed_window.ts";
import type { CachedDictionary } from "./dictionaries.ts";
import { TILING } from "./tiling.ts";

/** The pieces of a tiling in order, the body of each dictionary with the first that needs it. */
export const PIECES = `/* read the pieces */ ${TILING}
  SELECT w.level || ':' || w.id AS id, w.from_ns, w.to_ns, w.holes, w.body, w.dictionary, d.hash,
    CASE WHEN row_number() OVER (PARTITION BY w.dictionary ORDER BY w.end_ns) = 1 THEN d.body END
      AS dictionary_body
  FROM tile JOIN windows w ON w.id = tile.id LEFT JOIN dictionaries d ON d.id = w.dictionary
  ORDER BY w.end_ns LIMIT :limit`;

/** A text that identifies the pieces of a tiling. */
export const PIECES_NAMED = `${TILING}
  SELECT group_concat(name) FROM (
    SELECT level || ':' || id AS name FROM tile WHERE id IS NOT NULL ORDER BY at_ns
  )`;

/** Several pieces as one. */
export interface Merged {
  window: Window;
  /** The spans of the windows; those that touch are one. */
  intervals: Interval[];
}

/** Pieces that are merged before other work may run. */
const PIECES_AT_ONCE = 16;

/** Where the merge starts, and a dictionary that need not be unpacked. */
export interface MergeOptions {
  start_ns: bigint;
  cached?: CachedDictionary;
}

/** The merge of the pieces, which are rows of {@linkcode PIECES}. */
export async function mergePieces(
  rows: Row[],
  { start_ns, cached }: MergeOptions,
): Promise<Merged> {
  const window = emptyWindow(start_ns);
  const dictionaries = new Map<unknown, Dictionary>();
  const intervals: Interval[] = [];
  for (const [i, row] of rows.entries()) {
    if (i % PIECES_AT_ONCE === PIECES_AT_ONCE - 1) await yieldToEventLoop();
    if (row.dictionary_body) dictionaries.set(row.dictionary, dictionaryOf(row, cached));
    const dictionary = dictionaries.get(row.dictionary);
    if (!dictionary) throw new Error("Cannot read a window: its dictionary is missing");
    const span = { from_ns: row.from_ns as bigint, to_ns: row.to_ns as bigint };
    absorbOwned(window, unpack(new Uint8Array(row.body as ArrayBuffer), { dictionary, ...span }));
    for (const interval of intervalsOf(span, row.holes as string | null)) {
      joinInterval(intervals, interval);
    }
  }
  return { window, intervals };
}

/** The holes of a merge as they are stored: `null` for none. */
export function encodeHoles(intervals: Interval[]): string | null {
  const span = { from_ns: intervals[0]!.from_ns, to_ns: intervals.at(-1)!.to_ns };
  const holes = gapsIn(intervals, span);
  return holes.length > 0 ? encode(holes) : null;
}

function dictionaryOf(
  { hash, dictionary_body }: Row,
  cached: CachedDictionary | undefined,
): Dictionary {
  const isCached = cached &&
    new Uint8Array(hash as ArrayBuffer).every((b, i) => b === cached.hash[i]);
  return isCached ? cached.dictionary : unpackDictionary(dictionary_body as ArrayBuffer);
}

function intervalsOf(span: Interval, holes: string | null): Interval[] {
  return holes === null ? [span] : gapsIn(decode(holes) as Interval[], span);
}
