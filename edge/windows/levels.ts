/** Levels of roll-ups, and the age up to which each is kept. */

import { LAST_NS, SECOND_NS } from "@service/core/time";

/** Spans that are rolled up, in seconds: aligned to the epoch, each level a part of the next. */
export const LEVELS = [60, 600, 7_200, 86_400] as const;

/** A level of roll-ups; windows as they came are of level 0. */
export type Level = typeof LEVELS[number];

/** The finest level of roll-ups. */
export const FINEST: Level = LEVELS[0];

/** Nanoseconds in a day. */
export const DAY_NS: bigint = spanNs(86_400);

/** A step of downsampling. */
export interface Tier {
  /** Level of the removed rows. */
  removed: 0 | Level;
  /** Level of the roll-ups that replace it. */
  kept: Level;
  /** Age at which they are removed. */
  after_ns: bigint;
  /** Column of `instances`: the instant up to which they were removed. */
  column: "downsampled_ns" | "downsampled_minutes_ns";
}

/** The tiers, the youngest first. */
export const TIERS: readonly Tier[] = [
  { removed: 0, kept: 60, after_ns: 2n * DAY_NS, column: "downsampled_ns" },
  { removed: 60, kept: 600, after_ns: 7n * DAY_NS, column: "downsampled_minutes_ns" },
];

/** Nanoseconds of a level's spans. */
export function spanNs(level: Level): bigint {
  return BigInt(level) * SECOND_NS;
}

/** End of the level's span that an instant belongs to: a span is `(end - length, end]`. */
export function spanEnd(at_ns: bigint, level: Level): bigint {
  const length = spanNs(level);
  const end_ns = (at_ns + length - 1n) / length * length;
  return end_ns < LAST_NS ? end_ns : LAST_NS;
}

/** End of the level's last span that is over at an instant. */
export function lastSpanEnd(at_ns: bigint, level: Level): bigint {
  return at_ns / spanNs(level) * spanNs(level);
}

/**
 * Ends of the level's spans that were over at `to_ns` and not yet at `from_ns`: of several, the first and
 * the last, as nothing ended between them.
 */
export function closedBetween(from_ns: bigint, to_ns: bigint, level: Level): bigint[] {
  const first = lastSpanEnd(from_ns, level) + spanNs(level);
  if (first > to_ns) return [];
  return to_ns > first && to_ns % spanNs(level) === 0n ? [first, to_ns] : [first];
}
