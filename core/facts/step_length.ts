/** Lengths of steps: a span is read in some thirty of them, enough for a course and a change. */

import type { Interval } from "../gaps.ts";
import { later, SECOND_NS } from "../time.ts";

/** Steps of a span, about. */
const STEPS = 30n;

/** Lengths in seconds, so that a step is a multiple of what is kept of a run. */
const LENGTHS: readonly number[] = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 3600, 7200];

/** The shortest length, in nanoseconds, of which a span has at most thirty; never less than `finest_ns`. */
export function stepLength({ from_ns, to_ns }: Interval, finest_ns: bigint = SECOND_NS): bigint {
  const wanted_ns = later((to_ns - from_ns + STEPS - 1n) / STEPS, finest_ns);
  const lengths = LENGTHS.map((seconds) => BigInt(seconds) * SECOND_NS);
  const longest_ns = lengths.at(-1)!;
  return lengths.find((length_ns) => length_ns >= wanted_ns) ??
    (wanted_ns + longest_ns - 1n) / longest_ns * longest_ns;
}
