/** Snapshots: windows as payloads of both `/signals` endpoints. */

import { levelsOfEnded } from "./ended.ts";
import { newestFirst } from "./entries.ts";
import type { Metric, Signals } from "./payload.ts";
import { metricMatcher, type Selection } from "./selection.ts";
import { kindOf, type Series } from "./series/mod.ts";
import { type Tags, tagsKey } from "./tags.ts";
import type { Window } from "./window.ts";

/** Fields of a payload in addition to its window, and the part of the window to show. */
export interface SnapshotOptions {
  /** Tags of the instance. */
  context: Tags;
  /** The profiler that answers; local only. */
  profiler?: { version: string };
  /** The service that answers; hosted only. */
  platform?: { version: string };
  /** Start of the cumulative values, if it is not the start of the window. */
  start_ns?: bigint;
  /** Snapshot instant, if it is not the end of the window. */
  payload_ns?: bigint;
  /** Series last updated before this instant are left out. */
  updatedSince_ns?: bigint;
  /** Whether levels of processes that have ended are left out. */
  withoutEnded?: boolean;
  /** Part of the metrics, as the query asked for. */
  selection?: Selection;
}

/** The payload of `window`: metrics sorted by name and tags, entries newest first. */
export function snapshot(window: Window, options: SnapshotOptions): Signals {
  const { profiler, platform, context, updatedSince_ns = 0n, selection = {} } = options;
  const wanted = metricMatcher(selection.metrics);
  const isPast = options.withoutEnded ? levelsOfEnded(window) : () => false;
  return {
    ...(profiler && { profiler }),
    ...(platform && { platform }),
    payload_ns: options.payload_ns ?? window.to_ns,
    start_ns: options.start_ns ?? window.from_ns,
    context,
    metrics: sortedBy(
      [...window.series.values()]
        .filter((series) =>
          series.updated_ns >= updatedSince_ns && wanted(series.name) && !isPast(series)
        ),
      ({ name }) => name,
    ).map((series) => metric(series, selection.top)),
    ...newestFirst(window),
    resources: sortedBy([...window.resources.values()], ({ kind }) => kind),
  };
}

function metric(series: Series, top: number | undefined): Metric {
  const { name, type, tags, updated_ns } = series;
  return { name, type, tags, stats: kindOf(series).stats(series, top), updated_ns } as Metric;
}

/** The items by name and tags, and of several such series by type. */
function sortedBy<T extends { tags: Tags; type?: string }>(
  items: readonly T[],
  nameOf: (item: T) => string,
): T[] {
  return items.map((item) => ({ item, name: nameOf(item), tags: tagsKey(item.tags) }))
    .sort((a, b) =>
      compare(a.name, b.name) || compare(a.tags, b.tags) ||
      compare(a.item.type ?? "", b.item.type ?? "")
    )
    .map(({ item }) => item);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
