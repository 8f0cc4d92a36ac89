/** The location of a quantile: what buckets and the exact mean allow to say of it in a text. */

import { type Bounds, quantileBucket } from "../bounds.ts";
import { rounded } from "../sum.ts";
import { type HistogramSeries, quantile } from "./histogram.ts";

/** Where a quantile lies: near a value, or only below or above a bound. */
export type QuantileLocation =
  | { readonly near: number }
  | { readonly below: number }
  | { readonly above: number };

/**
 * Where quantile `q` lies; `null` without buckets or values.
 *
 * A payload has PromQL's number for it, which is a guess in a bucket with one edge alone: 0.15 for a
 * first bucket up to 0.3 whose values are all near 0.005, and the last bound for all that lies above.
 * There the bound is what is known. Of values that are not negative at most the share `1 - q` is above
 * `mean / (1 - q)`, so that a quantile is never above that, however wide its bucket is. A text, a table
 * or a page says this location beside the exact mean.
 *
 * @throws {RangeError} If `q` is outside `[0, 1]`.
 */
export function locateQuantile(
  series: HistogramSeries,
  quantileOf: number,
): QuantileLocation | null {
  // Quantile 0 is in the first bucket with values.
  const q = quantileOf === 0 ? Number.MIN_VALUE : quantileOf;
  const near = quantile(series, q);
  const { buckets, count, max } = series;
  if (near === null || buckets === null) return null;
  let bound = max ?? Infinity;
  if (isNonNegative(series)) {
    const mean = rounded(series.sum) / count;
    if (mean === 0) return { near: 0 };
    bound = Math.min(bound, mean / (1 - q));
  }
  if ("bounds" in buckets) {
    const { lower, upper } = quantileBucket(buckets, q)!;
    if (upper === null) return { above: lower! };
    if (lower === null) return { below: Math.min(upper, bound) };
  }
  return near > bound ? { below: bound } : { near };
}

/** Whether no value is negative, as far as it is known; a first bucket with a bound above 0 starts at 0. */
function isNonNegative({ buckets, min }: HistogramSeries): boolean {
  if (min !== null) return min >= 0;
  return buckets !== null && "bounds" in buckets
    ? startOf(buckets) >= 0
    : [...buckets?.bins.keys() ?? []].every((index) => index >= 0);
}

/** The lower edge of the first bucket with values. */
function startOf({ bounds, counts }: Bounds): number {
  const first = counts.findIndex((times) => times > 0);
  if (first > 0) return bounds[first - 1]!;
  return bounds[0]! > 0 ? 0 : -Infinity;
}
