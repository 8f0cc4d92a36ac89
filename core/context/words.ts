/** Words and numbers of the text: three significant digits, units, and rows of tables. */

import type { Durations, Level } from "../facts/mod.ts";
import type { QuantileLocation } from "../series/mod.ts";
import { tsFromNs } from "../time.ts";

/** What stands where nothing was measured. */
export const UNKNOWN = "-";

/** A number with three significant digits, without an exponent; `-` where nothing was measured. */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return UNKNOWN;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return String(BigInt(Math.round(value)));
  const decimals = Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(size))));
  const text = value.toFixed(decimals);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A share of 0 to 1 as percent. */
export function percent(share: number | null | undefined): string {
  return number(share === null || share === undefined ? null : 100 * share);
}

/** The mean of a level, times a factor. */
export function meanOf(level: Level | null, factor = 1): string {
  return number(level && level.mean * factor);
}

/** A level with its extremes where they differ: `12.5 (3 to 40)`. */
export function rangeOf(level: Level | null, factor = 1): string {
  if (!level) return UNKNOWN;
  const [mean, min, max] = [level.mean, level.min, level.max].map((value) =>
    number(value * factor)
  );
  return min === max ? mean! : `${mean} (${min} to ${max})`;
}

/** A length of time with a unit of its own. */
export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (value === 0) return "0 s";
  if (value < 1e-3) return `${number(value * 1e6)} µs`;
  if (value < 1) return `${number(value * 1e3)} ms`;
  return `${number(value)} s`;
}

/** Where a quantile lies: never a guess inside of a bucket with one edge. */
export function location(of: QuantileLocation | null): string {
  if (of === null) return UNKNOWN;
  if ("near" in of) return `about ${seconds(of.near)}`;
  return "below" in of ? `below ${seconds(of.below)}` : `above ${seconds(of.above)}`;
}

/** Durations in one line. */
export function durations(of: Durations | null): string {
  if (!of) return UNKNOWN;
  return `mean ${seconds(of.mean_seconds)}, p50 ${location(of.p50)}, p95 ${location(of.p95)}`;
}

/** An instant in UTC. */
export function clockTime(ns: bigint): string {
  return new Date(tsFromNs(ns) * 1000).toISOString().replace(".000Z", "Z");
}

/** Tags by their names, in the order of the alphabet. */
export function tagsByName(tags: Readonly<Record<string, string>>): [name: string, tag: string][] {
  return Object.entries(tags).sort(([a], [b]) => a < b ? -1 : 1);
}

/** A row of a table; what the cells cannot have are line breaks and bars. */
export function row(...cells: (string | number)[]): string {
  return cells.map((cell) => String(cell).replace(/[|\r\n]+/g, "/")).join(" | ");
}
