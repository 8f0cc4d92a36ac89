/** Starts: what a page tells of when its process started and when its series began to count. */

import type { ExposedSeries, Family } from "./exposition.ts";

/** Starts of counting that a page tells as gauges of their own, by name and labels. */
export type CreatedGauges = Map<string, number>;

/** Two readings of one start may differ by less than this. */
const SAME_SECONDS = 0.002;

/** Starts in whole seconds are rounded, and differ by more than this if they are not the same. */
const ROUNDED_SECONDS = 2;

/** Start of the target's process in epoch seconds; `undefined` where the page has none, or those of many. */
export function startOf(families: readonly Family[]): number | undefined {
  const series = families.find(({ name }) => name === "process_start_time_seconds")?.series ?? [];
  return series.length === 1 ? series[0]!.points[0]?.value : undefined;
}

/** Whether a process tells `now` that is not the one that told `before`. */
export function isOtherProcess(before: number | undefined, now: number | undefined): boolean {
  if (before === undefined || now === undefined) return false;
  const moved = Math.abs(now - before);
  if (Number.isInteger(now)) return moved > ROUNDED_SECONDS;
  // The kernel has the start since boot, and the time of boot in whole seconds: they change with the clock.
  return Math.abs(moved - Math.round(moved)) > SAME_SECONDS;
}

/** Whether a series that told `before` has begun to count again at `now`. */
export function isLater(before: number | undefined, now: number | undefined): boolean {
  return before !== undefined && now !== undefined && now - before > SAME_SECONDS;
}

/** The starts of counting of a page without OpenMetrics, where each is a gauge. */
export function createdGauges(families: readonly Family[]): CreatedGauges {
  const gauges: CreatedGauges = new Map();
  for (const { name, type, series } of families) {
    if (type !== "gauge" || !name.endsWith("_created")) continue;
    for (const { key, points } of series) gauges.set(`${name}\n${key}`, points[0]!.value);
  }
  return gauges;
}

/** When a series began to count, in epoch seconds; `undefined` where the page does not tell. */
export function createdOf(
  { name }: Family,
  { key, points }: ExposedSeries,
  gauges: CreatedGauges,
): number | undefined {
  const own = points.find(({ suffix }) => suffix === "_created")?.value;
  return own ?? gauges.get(`${name.replace(/_total$/, "")}_created\n${key}`);
}
