/** Processes that have ended: their levels are past, while what they did stays in every sum. */

import { describe } from "./catalogue/mod.ts";
import type { Series } from "./series/mod.ts";
import type { Tags } from "./tags.ts";
import { tsFromNs } from "./time.ts";
import type { Window } from "./window.ts";

/** A process that was seen this much before the last one has ended: samples may be a second apart. */
export const UNSEEN_SECONDS = 2;

/**
 * Tells the gauges of processes that had ended before the window did: added to those of the others they
 * would be more than there is. States, such as a process's trace mode, are not told: they say how its
 * sums were measured. A process of which nothing is described may still run.
 */
export function levelsOfEnded({ series, resources }: Window): (series: Series) => boolean {
  const seen = new Map<string, number>();
  let newest = -Infinity;
  for (const { kind, tags, last_seen_ts } of resources.values()) {
    const pid = pidOf(tags);
    if (kind !== "process" || pid === undefined) continue;
    seen.set(pid, Math.max(seen.get(pid) ?? -Infinity, last_seen_ts));
    newest = Math.max(newest, last_seen_ts);
  }
  for (const { tags, updated_ns } of series.values()) {
    const pid = pidOf(tags);
    const before = seen.get(pid ?? "");
    if (before !== undefined) seen.set(pid!, Math.max(before, tsFromNs(updated_ns)));
  }
  return ({ type, name, tags }) =>
    type === "gauge" && (seen.get(pidOf(tags) ?? "") ?? Infinity) < newest - UNSEEN_SECONDS &&
    describe(name)?.unit !== null;
}

function pidOf(tags: Tags): string | undefined {
  return tags["process.pid"];
}
