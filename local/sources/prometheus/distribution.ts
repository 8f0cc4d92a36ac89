/** The cumulative reading of one Prometheus histogram or summary. */

import type { Bounds } from "@service/core";
import { MAX_BUCKETS, MAX_MAGNITUDE } from "@service/core/limits";
import type { FamilyType, Point } from "./exposition.ts";

/** A distribution since its source started. */
export interface Distribution {
  count: number;
  sum: number;
  /** Each bucket's own count; `null` where the source keeps no buckets. */
  buckets: Bounds | null;
}

/**
 * The reading that the samples of one series make; `null` if they do not make one, and in words if it
 * is one that cannot be published.
 */
export function readDistribution(
  type: FamilyType,
  points: readonly Point[],
): Distribution | null | "not finite" {
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
    // What is counted at a bound is counted at all above it.
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
