/** Buckets in the packed format: their kind is part of a series' identity, their counts a column. */

import { type Bins, isBinIndex, sortedIndexes } from "../bins.ts";
import { MAX_BINS, MAX_BUCKETS } from "../limits.ts";
import { list } from "../schema.ts";
import { type Buckets, countInBuckets } from "../series/buckets.ts";
import { double } from "../value_schema.ts";
import type { ColumnReader } from "./column_reader.ts";
import type { ColumnWriter } from "./column_writer.ts";
import { DamagedError } from "./error.ts";
import { isAscending } from "./order.ts";

/** The kind of buckets: native bins, or the bounds of a Prometheus histogram. */
export type BucketKind = "bins" | readonly number[];

/** A kind in JSON. */
export type EncodedBucketKind = "bins" | (number | string)[];

/** The kind of buckets; `undefined` without buckets. */
export function bucketKind(buckets: Buckets | null): BucketKind | undefined {
  if (buckets === null) return undefined;
  return "bounds" in buckets ? buckets.bounds : "bins";
}

/** A text for each kind. */
export function bucketKindKey(kind: BucketKind | undefined): string {
  if (!kind) return "";
  return kind === "bins" ? " bins" : ` ${kind.map(boundText).join(" ")}`;
}

/** The kind as JSON has it. */
export function encodeBucketKind(kind: BucketKind): EncodedBucketKind {
  return kind === "bins" ? kind : kind.map(boundText);
}

/**
 * The kind that JSON has.
 *
 * @throws {ShapeError} If it is none.
 * @throws {DamagedError} If its bounds do not ascend.
 */
export function decodeBucketKind(kind: unknown): BucketKind {
  if (kind === "bins") return kind;
  const bounds = boundList.check(kind).map((bound) => bound === "-0" ? -0 : double.check(bound));
  if (!isAscending(bounds)) throw new DamagedError("the bounds of buckets must ascend");
  return bounds;
}

const boundList = list<unknown>({ schema: {}, check: (bound) => bound }, { max: MAX_BUCKETS });

/** JSON has no negative zero. */
function boundText(bound: number): number | string {
  return Object.is(bound, -0) ? "-0" : bound;
}

/** Writes the counts of buckets, and for bins their indexes. */
export function writeBuckets(out: ColumnWriter, buckets: Buckets | null): void {
  if (buckets === null) return;
  if ("bounds" in buckets) {
    for (const times of buckets.counts) out.natural(times);
    return;
  }
  const { bins } = buckets;
  const indexes = sortedIndexes(bins);
  out.natural(indexes.length);
  let before = 0;
  for (const index of indexes) {
    out.step(index - before);
    before = index;
  }
  for (const index of indexes) out.natural(bins.get(index)!);
}

/**
 * Reads buckets of a kind, with `count` values in them.
 *
 * @throws {DamagedError} If their bytes are others than were written, or their counts do not add up.
 */
export function readBuckets(
  input: ColumnReader,
  { kind, count }: { kind: BucketKind | undefined; count: number },
): Buckets | null {
  if (!kind) return null;
  const buckets = kind === "bins"
    ? { bins: readBins(input) }
    : { bounds: kind, counts: Array.from({ length: kind.length + 1 }, () => input.natural()) };
  const inBuckets = countInBuckets(buckets);
  if (inBuckets === count) return buckets;
  throw new DamagedError(
    `a histogram must count what is in its buckets, ${inBuckets}: got ${count}`,
  );
}

function readBins(input: ColumnReader): Bins {
  const bins: Bins = new Map();
  const indexes = new Array<number>(input.count(MAX_BINS));
  let index = 0;
  for (let i = 0; i < indexes.length; i++) {
    const step = input.step();
    indexes[i] = index += step;
    if (!isBinIndex(index) || (i > 0 && step <= 0)) {
      throw new DamagedError("the indexes of bins must ascend");
    }
  }
  for (const index of indexes) bins.set(index, input.natural());
  return bins;
}
