/** Increases: the differences between cumulative readings. */

import { type Bounds, subtractBounds } from "@service/core/bounds";
import { difference, type Sum } from "@service/core/sum";
import type { HistogramIncrease } from "./recorder.ts";

/** Meaning of a first reading: an increase since zero, or only the base of the next increase. */
export type FirstReading = "increase" | "base";

/** The last readings of one source (a process, the host), from which the next increases follow. */
export class CumulativeReadings {
  readonly #first: FirstReading;
  readonly #last = new Map<string, number>();

  /** Readings of a source that started with the instance or later (`increase`), or before it (`base`). */
  constructor(first: FirstReading) {
    this.#first = first;
  }

  /** The increase of `name` since its last reading. */
  increase(name: string, reading: number): Sum {
    const last = this.#last.get(name) ?? (this.#first === "increase" ? 0 : reading);
    this.#last.set(name, reading);
    return increaseSince(last, reading);
  }
}

/** The increase of a counter; one that falls has started again from zero. */
export function increaseSince(last: number, now: number): Sum {
  return now < last ? now : difference(now, last);
}

/** A distribution since its source started. */
export interface CumulativeDistribution {
  count: number;
  sum: number;
  /** Each bucket's own count; `null` where the source keeps no buckets. */
  buckets: Bounds | null;
}

/** The increase of a distribution; if a count falls, it has restarted from zero. */
export function distributionSince(
  last: CumulativeDistribution | undefined,
  now: CumulativeDistribution,
): HistogramIncrease {
  const sinceZero = { ...now, min: null, max: null };
  if (!last || now.count < last.count) return sinceZero;
  const count = now.count - last.count;
  const sum = difference(now.sum, last.sum);
  if (!last.buckets || !now.buckets) return { ...sinceZero, count, sum };
  const buckets = subtractBounds(now.buckets, last.buckets);
  const hasFallen = buckets.counts.some((times) => times < 0);
  return hasFallen ? sinceZero : { ...sinceZero, count, sum, buckets };
}
