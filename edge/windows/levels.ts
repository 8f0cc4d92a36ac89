import { LAST_NS, SECOND_NS } from "@service/core/time";

/** Spans that are rolled up, in seconds: aligned to the epoch, each level a part of the next. */
export const LEVELS = [60, 600, 7_200, 86_400] as const;

/** A level of roll-ups; windows as they came are of level 0. */
export type Level = typeof LEVELS[number];

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
 * Ends of the level's spans that were over at `to_ns` and not yet at `from_ns`, and in which
 * something lies when something ended at each: the first and the last, which may be one.
 */
export function closedBetween(from_ns: bigint, to_ns: bigint, level: Level): bigint[] {
  const first = lastSpanEnd(from_ns, level) + spanNs(level);
  if (first > to_ns) return [];
  return to_ns > first && to_ns % spanNs(level) === 0n ? [first, to_ns] : [first];
}
