/** Reads: the merge of the windows of an instance in a span, for one span or many. */

import { emptyWindow, type ErrorEntry, type Window } from "@service/core";
import { gapsIn, type Interval, overlap } from "@service/core/gaps";
import type { Block } from "@service/core/packed";
import { LAST_NS } from "@service/core/time";
import {
  type Database,
  type Result,
  type Row,
  type Statement,
  statement,
} from "../database/database.ts";
import type { Blocks } from "./blocks.ts";
import { absorbStored, readingNewest } from "./entries.ts";
import type { FoundInstance } from "./instance.ts";
import type { Merge, MergeOptions } from "./merge.ts";
import { readingLate } from "./passed.ts";
import { addBodies, blockRows, mergePieces, PIECES, PIECES_WITHOUT_BODIES } from "./pieces.ts";
import type { Runs } from "./runs.ts";
import { type Span, spanOf, type SpanQuery } from "./span.ts";
import { ANY_LEVEL, TILING } from "./tiling.ts";
import { lateWarnings, type ReadParts, warningsBefore } from "./warnings.ts";

/** A span of an instance. */
export interface SpanToRead {
  instance: FoundInstance;
  span: Span;
  /** What is to be said of it before it is read. */
  said: ErrorEntry[];
}

/** The span that a query of an instance is answered with. */
export function spanToRead(instance: FoundInstance, query: SpanQuery): SpanToRead {
  const span = spanOf(instance, query);
  return { instance, span, said: warningsBefore(instance, span) };
}

/** What was read of a span. */
export interface SpanRead extends SpanToRead, ReadParts {
  /** The merge of all windows that end in it, with the newest entries. */
  window: Window;
  /** The block of the last window that could be read, if any. */
  block: Block | undefined;
  /** Whether there was any. */
  isEmpty: boolean;
  /** The parts of it of which nothing is known. */
  gaps: Interval[];
}

/** What spans are read with. */
export interface ReadOptions {
  /** Row id. */
  project: bigint;
  /** The blocks in memory. */
  blocks: Blocks;
  /** Whether series of this name are read; all when absent. */
  wanted?: (name: string) => boolean;
  /** Entries of windows before the span are read too. */
  withOlderEntries?: boolean;
}

/** Bytes of rows that are in memory at once, about. */
const CHUNK_BYTES = 4 * 2 ** 20;

/** Spans that are read in one round trip: the first time, and at most. */
const [FIRST_CHUNK, MAX_CHUNK] = [8, 64];

/** Reads spans, many in one round trip. */
export async function* readSpans(
  db: Database,
  spans: readonly SpanToRead[],
  options: ReadOptions,
): AsyncGenerator<SpanRead> {
  let size = FIRST_CHUNK;
  for (let at = 0; at < spans.length;) {
    const chunk = spans.slice(at, at + size);
    at += chunk.length;
    const statements = chunk.map((span) => reading(PIECES, span, options));
    const results = await db.read(statements.flat());
    const bytes = results.reduce((sum, result) => sum + bytesOf(result), 0);
    size = Math.max(1, Math.min(MAX_CHUNK, Math.floor(chunk.length * CHUNK_BYTES / (bytes + 1))));
    const each = statements.map(({ length }) => results.splice(0, length));
    const merging = await mergingOf(db, each.flatMap(([pieces]) => pieces!.rows), options);
    for (const [i, span] of chunk.entries()) {
      const [pieces, ...others] = each[i]!;
      const merged = await mergePieces(pieces!.rows, merging);
      yield spanRead(span, { merged, others, onDamage: merging.onDamage });
    }
  }
}

/** Reads one span: in one round trip if all its pieces are in memory. */
export async function readSpan(
  db: Database,
  span: SpanToRead,
  { runs, ...options }: Omit<ReadOptions, "wanted"> & { runs: Runs },
): Promise<SpanRead> {
  const [pieces, ...others] = await db.read(reading(PIECES_WITHOUT_BODIES, span, options));
  const { rows } = pieces!;
  const missing = runs.missing(rows);
  const [merging] = await Promise.all([
    mergingOf(db, missing, options),
    addBodies(db, missing),
  ]);
  const merged = await runs.merge(rows, merging);
  if (merged) return spanRead(span, { merged, others, onDamage: merging.onDamage });
  // Some were removed meanwhile: others have taken their place.
  const { value } = await readSpans(db, [span], options).next();
  return value;
}

/** What pieces are merged with. */
async function mergingOf(
  db: Database,
  rows: readonly Row[],
  { project, blocks, wanted }: ReadOptions,
): Promise<MergeOptions> {
  const loaded = await blocks.load(db, project, blockRows(rows));
  return { blocks: loaded, wanted, onDamage: blocks.onDamage };
}

/** The statements that read a span. */
function reading(
  pieces: typeof PIECES | typeof PIECES_WITHOUT_BODIES,
  { instance, span: { start_ns, payload_ns } }: SpanToRead,
  { withOlderEntries = false }: Pick<ReadOptions, "withOlderEntries">,
): Statement[] {
  const args = {
    instance: instance.id,
    start_ns,
    end_ns: payload_ns,
    below: ANY_LEVEL,
    limit: -1,
  };
  const after_ns = withOlderEntries ? -1n : start_ns;
  const late = { instance: instance.id, after_ns, end_ns: withOlderEntries ? LAST_NS : payload_ns };
  return [
    statement(pieces, args),
    statement(AROUND, args),
    ...readingNewest({ ...args, after_ns }),
    ...(instance.late_windows > 0n ? [readingLate(late)] : []),
  ];
}

/** What was read of a span: its merged pieces, and the results of the other statements. */
interface Parts extends Pick<MergeOptions, "onDamage"> {
  merged: Merge;
  others: Result[];
}

function spanRead(
  { instance, span, said }: SpanToRead,
  { merged, others: [around, ...entries], onDamage }: Parts,
): SpanRead {
  const window = merged.window ?? emptyWindow(span.start_ns);
  const late = instance.late_windows > 0n ? entries.pop() : undefined;
  absorbStored(window, entries, onDamage);
  if (late) window.errors.push(...lateWarnings(instance, late));
  const { next_ns, ...tiled } = around!.rows[0]! as unknown as Around;
  const after_ns = next_ns ?? merged.stored.at(-1)?.to_ns ?? 0n;
  const bounds = overlap(tiled, { from_ns: instance.start_ns, to_ns: after_ns });
  return {
    instance,
    span,
    said,
    window,
    block: merged.block,
    isEmpty: merged.stored.length === 0,
    tiled,
    gaps: gapsIn(merged.intervals, bounds),
    missing: gapsIn(merged.stored, bounds),
    damaged: merged.damaged,
  };
}

/** The span to which roll-ups can be cut, and the start of the first window after it. */
interface Around extends Interval {
  /** May be inside the span: then its end is not a gap. */
  next_ns: bigint | null;
}

const AROUND = `${TILING} SELECT start_ns AS from_ns, end_ns AS to_ns, (
    SELECT min(w.from_ns) FROM levels l JOIN windows w ON w.id = (
      SELECT id FROM windows WHERE instance = :instance AND level = l.level
        AND end_ns >= span.end_ns + l.length_ns ORDER BY end_ns LIMIT 1
    ) WHERE l.level < :below
  ) AS next_ns FROM span`;

function bytesOf({ rows }: Result): number {
  return rows.reduce((sum, { body }) => sum + ((body as ArrayBuffer)?.byteLength ?? 0), 0);
}
