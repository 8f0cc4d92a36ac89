/** Levels and durations: how a measured quantity stood over a span. */

import type { QuantileLocation } from "../series/mod.ts";

/** A quantity that was read again and again, such as a temperature or a share. */
export interface Level {
  /** Mean over the time that was measured. */
  mean: number;
  /** Lowest known value. */
  min: number;
  /** Highest known value. */
  max: number;
  /** Newest value. */
  last: number;
}

/** A level in another unit; `null` stays what was not measured. */
export function inUnit(level: Level | null, convert: (value: number) => number): Level | null {
  return level && {
    mean: convert(level.mean),
    min: convert(level.min),
    max: convert(level.max),
    last: convert(level.last),
  };
}

/** How long single things took, as far as buckets tell. */
export interface Durations {
  /** Number of things. */
  count: number;
  /** Exact mean, seconds. */
  mean_seconds: number;
  /** Where half of them lie below, in seconds; `null` without buckets. */
  p50: QuantileLocation | null;
  /** Where 95 % of them lie below, in seconds; `null` without buckets. */
  p95: QuantileLocation | null;
}
