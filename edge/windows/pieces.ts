import { absorb, decode, emptyWindow, encode, type Window } from "@service/core";
import type { Row } from "../database/database.ts";
import { yieldToEventLoop } from "@service/core/yield";
import { gapsIn, type Stretch } from "./gaps.ts";
import { type Layout, unpackLayout } from "../format/dictionary.ts";
import type { KnownLayout } from "./dictionaries.ts";
import { unpack } from "../format/packed_window.ts";
import { TILING } from "./tiling.ts";

/** The pieces of a tiling in order, the body of each layout with the first that needs it. */
export const PIECES = `/* read the pieces */ ${TILING}
  SELECT w.level || ':' || w.id AS id, w.from_ns, w.to_ns, w.holes, w.body, w.layout, l.hash,
    CASE WHEN row_number() OVER (PARTITION BY w.layout ORDER BY w.end_ns) = 1 THEN l.body END
      AS layout_body
  FROM tile JOIN windows w ON w.id = tile.id LEFT JOIN layouts l ON l.id = w.layout
  ORDER BY w.end_ns LIMIT :most`;

/** What names the pieces of a tiling: it stays the same for as long as they do. */
export const PIECES_NAMED = `${TILING}
  SELECT group_concat(name) FROM (
    SELECT level || ':' || id AS name FROM tile WHERE id IS NOT NULL ORDER BY at_ns
  )`;

/** Several pieces as one. */
export interface Merged {
  window: Window;
  /** When something is known of: the spans of the windows, those that touch as one. */
  stretches: Stretch[];
}

/** Pieces that are merged before other requests get their turn. */
const PIECES_AT_ONCE = 16;

/** Where to start, and a layout that is at hand. */
export interface MergeOptions {
  start_ns: bigint;
  known?: KnownLayout;
}

/** The merge of the pieces, which are rows of {@linkcode PIECES}. */
export async function mergePieces(
  rows: Row[],
  { start_ns, known }: MergeOptions,
): Promise<Merged> {
  const window = emptyWindow(start_ns);
  const layouts = new Map<unknown, Layout>();
  const stretches: Stretch[] = [];
  for (const [i, row] of rows.entries()) {
    if (i % PIECES_AT_ONCE === PIECES_AT_ONCE - 1) await yieldToEventLoop();
    if (row.layout_body) layouts.set(row.layout, layoutOf(row, known));
    const layout = layouts.get(row.layout) ?? null;
    const span = { from_ns: row.from_ns as bigint, to_ns: row.to_ns as bigint };
    absorb(window, unpack(new Uint8Array(row.body as ArrayBuffer), { layout, ...span }));
    for (const stretch of stretchesOf(span, row.holes as string | null)) join(stretches, stretch);
  }
  return { window, stretches };
}

/** The holes of a merge as they are stored: `null` for none. */
export function encodeHoles(stretches: Stretch[]): string | null {
  const whole = { from_ns: stretches[0]!.from_ns, to_ns: stretches.at(-1)!.to_ns };
  const holes = gapsIn(stretches, whole);
  return holes.length > 0 ? encode(holes) : null;
}

function layoutOf({ hash, layout_body }: Row, known: KnownLayout | undefined): Layout {
  const isKnown = known && new Uint8Array(hash as ArrayBuffer).every((b, i) => b === known.hash[i]);
  return isKnown ? known.layout : unpackLayout(layout_body as ArrayBuffer);
}

function stretchesOf(span: Stretch, holes: string | null): Stretch[] {
  return holes === null ? [span] : gapsIn(decode(holes) as Stretch[], span);
}

function join(stretches: Stretch[], next: Stretch): void {
  const last = stretches.at(-1);
  if (last && last.to_ns >= next.from_ns) last.to_ns = next.to_ns;
  else stretches.push({ ...next });
}
