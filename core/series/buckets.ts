/** Buckets: how the values of a histogram are distributed. */

import { type Bins, count, isBinIndex, sortedIndexes } from "../bins.ts";
import { addBounds, type Bounds } from "../bounds.ts";
import { MAX_BINS, MAX_BUCKETS } from "../limits.ts";
import { integer, list, mapped, object, oneOf, type Shape, variants } from "../schema.ts";
import { ShapeError } from "../schema_error.ts";
import { double, times } from "../value_schema.ts";

/** Counts by value: in native log-linear bins, or between the bounds of a Prometheus histogram. */
export type Buckets = { readonly bins: Bins } | Bounds;

/** Sum of both, or `null` if their kinds differ or one is missing. May change and return `ours`. */
export function addBuckets(ours: Buckets | null, theirs: Buckets | null): Buckets | null {
  if (ours === null || theirs === null) return null;
  if ("bins" in ours && "bins" in theirs) {
    for (const [index, times] of theirs.bins) count(ours.bins, index, times);
    return ours;
  }
  return "bounds" in ours && "bounds" in theirs ? addBounds(ours, theirs) : null;
}

/** The same buckets; a change of either does not change the other. */
export function copyBuckets(buckets: Buckets | null): Buckets | null {
  return buckets && "bins" in buckets ? { bins: new Map(buckets.bins) } : buckets;
}

/** Buckets in the form of an upload. */
export function bucketsBody(buckets: Buckets): unknown {
  if ("bounds" in buckets) return { kind: "bounds", ...buckets };
  const { bins } = buckets;
  const indexes = [...sortedIndexes(bins)];
  return { kind: "bins", indexes, counts: indexes.map((index) => bins.get(index)!) };
}

/** Number of values in all buckets. */
export function countInBuckets(buckets: Buckets): number {
  let total = 0;
  for (const times of "bins" in buckets ? buckets.bins.values() : buckets.counts) total += times;
  return total;
}

interface BinsBody {
  kind: "bins";
  indexes: number[];
  counts: number[];
}

interface BoundsBody {
  kind: "bounds";
  bounds: number[];
  counts: number[];
}

const bins: Shape<Buckets> = mapped(
  object<BinsBody>({
    kind: oneOf("bins"),
    indexes: list(integer(-(2 ** 14), 2 ** 14), { max: MAX_BINS }),
    counts: list(times, { max: MAX_BINS }),
  }),
  ({ indexes, counts }) => {
    if (indexes.length !== counts.length) {
      throw new ShapeError("counts", `must have one count for each of ${indexes.length} bins`);
    }
    const bins: Bins = new Map();
    indexes.forEach((index, i) => {
      if (!isBinIndex(index)) {
        throw new ShapeError(`indexes[${i}]`, `must be the index of a bin: got ${index}`);
      }
      if (i > 0 && index <= indexes[i - 1]!) {
        throw new ShapeError(`indexes[${i}]`, "must be larger than the one before it");
      }
      bins.set(index, counts[i]!);
    });
    return { bins };
  },
);

const bounds: Shape<Buckets> = mapped(
  object<BoundsBody>({
    kind: oneOf("bounds"),
    bounds: list(double, { max: MAX_BUCKETS }),
    counts: list(times, { max: MAX_BUCKETS + 1 }),
  }),
  ({ bounds, counts }): Bounds => {
    if (counts.length !== bounds.length + 1) {
      const rule = `must have a count for each of ${bounds.length} bounds and one above`;
      throw new ShapeError("counts", rule);
    }
    const unsorted = bounds.findIndex((bound, i) => i > 0 && bound <= bounds[i - 1]!);
    if (unsorted > 0) {
      throw new ShapeError(`bounds[${unsorted}]`, "must be larger than the one before it");
    }
    return { bounds, counts };
  },
);

/** Buckets in an upload. */
export const bucketsShape: Shape<Buckets> = variants<Buckets>("kind", { bins, bounds });
