/** Cumulative readings of Prometheus histograms and summaries. */

import type { Bounds } from "@service/core";
import { MAX_BUCKETS, MAX_MAGNITUDE } from "@service/core/limits";
import type { CumulativeDistribution } from "../cumulative.ts";
import type { FamilyType, Point } from "./exposition.ts";

/**
 * The reading that the samples of one series make: `null` if they do not make one, `not finite` if its
 * sum cannot be published.
 */
export function readDistribution(
  type: FamilyType,
  points: readonly Point[],
): CumulativeDistribution | null | "not finite" {
  const sum = points.find(({ suffix }) => suffix === "_sum")?.value;
  const counted = points.find(({ suffix }) => suffix === "_count")?.value;
  if (type === "summary") {
    return sum === undefined || counted === undefined ? null : checked(counted, sum, null);
  }
  const at = new Map<number, number>();
  for (const { suffix, bound, value } of points) {
    if (suffix === "_bucket" && bound !== null && !at.has(bound)) at.set(bound, value);
  }
  const count = at.get(Infinity) ?? counted;
  if (sum === undefined || count === undefined) return null;
  at.delete(Infinity);
  const bounds = [...at.keys()].sort((a, b) => a - b);
  if (bounds.length > MAX_BUCKETS || !bounds.every((bound) => Math.abs(bound) <= MAX_MAGNITUDE)) {
    return null;
  }
  const counts: number[] = [];
  let below = 0;
  for (const upper of [...bounds.map((bound) => at.get(bound)!), count]) {
    // Cumulative counts never fall from one bound to the next.
    if (!(upper >= below) || !Number.isSafeInteger(upper)) return null;
    counts.push(upper - below);
    below = upper;
  }
  return checked(count, sum, { bounds, counts });
}

function checked(count: number, sum: number, buckets: Bounds | null) {
  if (!Number.isSafeInteger(count) || count < 0) return null;
  return Math.abs(sum) <= MAX_MAGNITUDE ? { count, sum, buckets } : "not finite";
}
