/** Histograms: distributions of values. */

import { binQuantile } from "../bins.ts";
import { boundsQuantile } from "../bounds.ts";
import { mapped, nullable, object } from "../schema.ts";
import { ShapeError } from "../schema_error.ts";
import { addSums, type Quantity, quantity, rounded, type Sum } from "../sum.ts";
import { double, sum, times, value } from "../value_schema.ts";
import {
  addBuckets,
  type Buckets,
  bucketsBody,
  bucketsShape,
  copyBuckets,
  countInBuckets,
} from "./buckets.ts";
import { type SeriesKind, type SeriesOf, uploaded } from "./kind.ts";

/** A histogram's increase. */
export interface HistogramSeries extends SeriesOf<"histogram"> {
  /** Number of values counted. */
  count: number;
  /** Their exact sum. */
  sum: Sum;
  /** The smallest, or `null` where the source keeps none or nothing was counted. */
  min: number | null;
  /** The largest, or `null` where the source keeps none or nothing was counted. */
  max: number | null;
  /** The counts by value, or `null` where the source keeps none (a Prometheus summary). */
  buckets: Buckets | null;
}

/** Distribution over the window; `null` is "not measured". */
export interface HistogramStats {
  /** Number of values counted; exact. */
  count: number;
  /** Their sum; exact. */
  sum: Quantity;
  /** The smallest; `null` where the source keeps none or nothing was counted. */
  min: number | null;
  /** The largest; `null` where the source keeps none or nothing was counted. */
  max: number | null;
  /** `sum / count`, or 0 when nothing was counted. */
  mean: number;
  /** The median, to the precision of its bin; `null` without buckets or values. */
  p50: number | null;
  /** The 95th percentile, to the precision of its bin; `null` without buckets or values. */
  p95: number | null;
}

/**
 * Value below which the fraction `q` of the distribution lies, to the precision of its buckets;
 * `null` without buckets or values.
 *
 * @throws {RangeError} If `q` is outside `[0, 1]`.
 */
export function quantile(
  { buckets, min, max }: Pick<HistogramSeries, "buckets" | "min" | "max">,
  q: number,
): number | null {
  if (buckets === null) return null;
  if ("bounds" in buckets) return boundsQuantile(buckets, q);
  const value = binQuantile(buckets.bins, q);
  return value === null ? null : Math.min(max ?? Infinity, Math.max(min ?? -Infinity, value));
}

const shape = mapped(
  uploaded<HistogramSeries>("histogram", {
    count: times,
    sum,
    min: nullable(double),
    max: nullable(double),
    buckets: nullable(bucketsShape),
  }),
  (histogram) => {
    const { count, buckets } = histogram;
    if (buckets === null) return histogram;
    const inBuckets = countInBuckets(buckets);
    if (inBuckets !== count) {
      const rule = `must be the sum of its buckets' counts, ${inBuckets}`;
      throw new ShapeError("count", `${rule}: got ${count}`);
    }
    return histogram;
  },
);

/** The kind `histogram`: counts, sums and buckets add up. */
export const histogram: SeriesKind<HistogramSeries, HistogramStats> = {
  absorb(ours, theirs) {
    // An empty histogram leaves min, max and buckets unchanged.
    if (ours.count === 0 && theirs.count > 0) {
      ours.min = theirs.min;
      ours.max = theirs.max;
      ours.buckets = copyBuckets(theirs.buckets);
    } else if (theirs.count > 0 || ours.count === 0) {
      ours.min = ours.min === null || theirs.min === null ? null : Math.min(ours.min, theirs.min);
      ours.max = ours.max === null || theirs.max === null ? null : Math.max(ours.max, theirs.max);
      ours.buckets = addBuckets(ours.buckets, theirs.buckets);
    }
    ours.count += theirs.count;
    ours.sum = addSums(ours.sum, theirs.sum);
  },
  copy: (series) => ({ ...series, buckets: copyBuckets(series.buckets) }),
  shape,
  body: ({ count, sum, min, max, buckets }) => ({
    count,
    sum,
    min,
    max,
    buckets: buckets && bucketsBody(buckets),
  }),
  stats(series) {
    const { count, min, max } = series;
    const sum = quantity(series.sum);
    if (count === 0) return { count, sum, min: null, max: null, mean: 0, p50: null, p95: null };
    return {
      count,
      sum,
      min,
      max,
      mean: rounded(series.sum) / count,
      p50: quantile(series, 0.5),
      p95: quantile(series, 0.95),
    };
  },
  statsShape: object<HistogramStats>({
    count: times,
    sum: value,
    min: nullable(double),
    max: nullable(double),
    mean: double,
    p50: nullable(double),
    p95: nullable(double),
  }),
};
