/** Selections: the metrics and frames of a window that a query asks for. */

import { shownFrames } from "./series/profile.ts";
import type { Window } from "./window.ts";

/** The metrics and frames that a query selects. */
export interface Selection {
  /** Metric names; one that ends in `*` selects by prefix. Absent: all. */
  metrics?: readonly string[];
  /** Frames of each profile, largest first; the rest are one frame, `(not shown)`. Absent: all. */
  top?: number;
}

/** Whether a metric is among `names`. */
export function metricMatcher(names: readonly string[] | undefined): (name: string) => boolean {
  if (!names) return () => true;
  const exact = new Set(names);
  const prefixes = names.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
  return (name) => exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

/**
 * Leaves in `window` only what is selected. Frames beyond `top` become the frame `(not shown)`, so
 * that the sum of a profile stays the same.
 */
export function selectIn(window: Window, { metrics, top }: Selection): void {
  const wanted = metricMatcher(metrics);
  for (const [key, series] of window.series) {
    if (!wanted(series.name)) window.series.delete(key);
    else if (series.type === "profile" && top !== undefined) {
      series.frames = new Map(shownFrames(series.frames, top));
    }
  }
}
