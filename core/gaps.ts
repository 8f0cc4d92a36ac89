/** Gaps between windows, and the warning of them. */

import type { ErrorEntry } from "./entries.ts";
import { earlier, later, secondsFromNs } from "./time.ts";

/** A span of time, `(from_ns, to_ns]`. */
export interface Interval {
  /** Start, exclusive; epoch nanoseconds. */
  from_ns: bigint;
  /** End, inclusive; epoch nanoseconds. */
  to_ns: bigint;
}

/** The time that is in both spans; it ends before it starts if there is none. */
export function overlap(a: Interval, b: Interval): Interval {
  return { from_ns: later(a.from_ns, b.from_ns), to_ns: earlier(a.to_ns, b.to_ns) };
}

/** The parts of a span that `windows`, in order, leave out. */
export function gapsIn(windows: readonly Interval[], { from_ns, to_ns }: Interval): Interval[] {
  const gaps: Interval[] = [];
  let at_ns = from_ns;
  for (const window of [...windows, { from_ns: to_ns, to_ns }]) {
    if (window.from_ns > at_ns) gaps.push({ from_ns: at_ns, to_ns: window.from_ns });
    at_ns = window.to_ns;
  }
  return gaps;
}

/** Adds the span of a window that follows `intervals`; those that touch become one. */
export function joinInterval(intervals: Interval[], next: Interval): void {
  const last = intervals.at(-1);
  if (last && last.to_ns >= next.from_ns) last.to_ns = next.to_ns;
  else intervals.push({ ...next });
}

/** The warning of gaps, at least one, in which nothing is known. */
export function warningOf(gaps: readonly Interval[], log_ns: bigint): ErrorEntry {
  return warning(gaps, { fault: "never arrived", log_ns });
}

/** The warning of windows, at least one, that are stored and cannot be read. */
export function damageWarningOf(damaged: readonly Interval[], log_ns: bigint): ErrorEntry {
  return warning(damaged, { fault: "are stored and cannot be read", log_ns });
}

function warning(
  spans: readonly Interval[],
  { fault, log_ns }: { fault: string; log_ns: bigint },
): ErrorEntry {
  const total_ns = spans.reduce((total, { from_ns, to_ns }) => total + to_ns - from_ns, 0n);
  const from = secondsFromNs(spans[0]!.from_ns);
  const to = secondsFromNs(spans.at(-1)!.to_ns);
  return {
    level: "warning",
    message: `${secondsFromNs(total_ns)} s between ${from} and ${to} (epoch seconds) ${fault}` +
      ": the totals lack what happened in them",
    exception: "",
    log_ns,
  };
}
