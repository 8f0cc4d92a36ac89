/**
 * The window: what changed in the half-open span `(from_ns, to_ns]` of one instance. Adjacent windows
 * merge into one, in any grouping to the same result; everything cumulative is such a merge.
 */

import { type Bins, count } from "./bins.ts";
import { addBounds, type Bounds } from "./bounds.ts";
import { MAX_ERRORS } from "./limits.ts";
import { addSums, type Quantity, type Sum } from "./sum.ts";
import { type Tags, tagsKey } from "./tags.ts";

/** What every series has: its identity, and when it last changed. */
export interface SeriesOf<Type extends string> {
  /** Metric name. */
  readonly name: string;
  /** Metric type, which tells the kinds of series apart. */
  readonly type: Type;
  /** Tags that identify the series beside name and type; never changed once made. */
  readonly tags: Tags;
  /** Last update, epoch nanoseconds. */
  updated_ns: bigint;
}

/** A gauge's newest value. */
export interface GaugeSeries extends SeriesOf<"gauge"> {
  /** The value, in the metric's own unit. */
  value: Quantity;
}

/** A counter's increase. */
export interface CounterSeries extends SeriesOf<"counter"> {
  /** The increase, exact, in the metric's own unit; never negative. */
  total: Sum;
}

/** A distribution's increase. */
export interface HistogramSeries extends SeriesOf<"histogram"> {
  /** How many values were counted. */
  count: number;
  /** Their exact sum. */
  sum: Sum;
  /** The smallest, or `null` where the source keeps none or nothing was counted. */
  min: number | null;
  /** The largest, or `null` where the source keeps none or nothing was counted. */
  max: number | null;
  /** How they lie, or `null` where the source does not say (a Prometheus summary). */
  buckets: Buckets | null;
}

/** How a distribution's values lie: our own log-linear bins, or the bounds of a foreign source. */
export type Buckets = { readonly bins: Bins } | Bounds;

/** A profile's increase by frame. */
export interface ProfileSeries extends SeriesOf<"profile"> {
  /** By frame name. */
  frames: Map<string, FrameSum>;
}

/** A frame's increase, and the samples behind it. */
export interface FrameSum {
  /** The increase, exact, in the profile's own unit. */
  value: Sum;
  /** How many samples it comes from. */
  samples: number;
}

/** What one source measured under one identity in one window. */
export type Series = GaugeSeries | CounterSeries | HistogramSeries | ProfileSeries;

/** A warning or error of the workload, or of the profiler itself (2.3). */
export interface ErrorEntry {
  /** Severity. */
  level: "warning" | "error";
  /** What happened, in one text. */
  message: string;
  /** Traceback, or the empty string when there is none. */
  exception: string;
  /** Log time, epoch nanoseconds. */
  log_ns: bigint;
  /** Where it comes from, such as `process.pid`; absent when not known. */
  tags?: Tags;
}

/** Something measured: a host, a process, a device (2.4). */
export interface Resource {
  /** Kind of resource: `host`, `process` or `device`. */
  kind: string;
  /** Tags that identify it among its kind, such as `device.uuid`; none for the host. */
  tags: Tags;
  /** What describes it, such as `device.name`. */
  attributes: Tags;
  /** Epoch seconds. */
  first_seen_ts: number;
  /** Epoch seconds. */
  last_seen_ts: number;
}

/** What changed in `(from_ns, to_ns]`. */
export interface Window {
  /** Start of the span, which does not belong to it; epoch nanoseconds. */
  readonly from_ns: bigint;
  /** End of the span, which belongs to it; epoch nanoseconds. */
  to_ns: bigint;
  /** By {@linkcode seriesKey}. */
  readonly series: Map<string, Series>;
  /** By {@linkcode resourceKey}. */
  readonly resources: Map<string, Resource>;
  /** The newest, oldest first. */
  errors: ErrorEntry[];
}

/** The identity of a series: name, type and sorted tags. */
export function seriesKey({ name, type, tags }: Pick<Series, "name" | "type" | "tags">): string {
  return `${type} ${name.length}:${name}${tagsKey(tags)}`;
}

/** The identity of a resource: kind and sorted tags. */
export function resourceKey({ kind, tags }: Pick<Resource, "kind" | "tags">): string {
  return `${kind.length}:${kind}${tagsKey(tags)}`;
}

/** The window in which nothing has happened yet: merging with it changes nothing. */
export function emptyWindow(at_ns: bigint): Window {
  return { from_ns: at_ns, to_ns: at_ns, series: new Map(), resources: new Map(), errors: [] };
}

/**
 * The window over both spans.
 *
 * @throws {RangeError} If `b` does not start where `a` ends.
 */
export function merge(a: Window, b: Window): Window {
  return mergeAll([a, b]);
}

/**
 * The window over all spans, which must be adjacent and in order.
 *
 * @throws {RangeError} If there is no window, or one does not start where the one before it ends.
 */
export function mergeAll(windows: readonly Window[]): Window {
  const [first] = windows;
  if (!first) throw new RangeError("Cannot merge windows: there are none");
  const merged = emptyWindow(first.from_ns);
  for (const window of windows) {
    if (window.from_ns !== merged.to_ns) {
      throw new RangeError(
        `Cannot merge windows: one ends at ${merged.to_ns}, the next starts at ${window.from_ns}`,
      );
    }
    absorb(merged, window);
  }
  return merged;
}

/**
 * Merges `next` into `window` in place, whatever lies between them: for the owner of a window that
 * grows. `next` is not changed and shares nothing with `window` afterwards that either may change.
 */
export function absorb(window: Window, next: Window): void {
  for (const [key, theirs] of next.series) {
    const ours = window.series.get(key);
    if (ours) absorbSeries(ours, theirs);
    else window.series.set(key, copySeries(theirs));
  }
  for (const [key, theirs] of next.resources) {
    const ours = window.resources.get(key);
    window.resources.set(key, ours ? mergeResources(ours, theirs) : { ...theirs });
  }
  if (next.errors.length > 0) window.errors = newest([...window.errors, ...next.errors]);
  window.to_ns = next.to_ns;
}

/** The newest {@linkcode MAX_ERRORS} entries, oldest first. */
export function newest(errors: readonly ErrorEntry[]): ErrorEntry[] {
  return [...errors]
    .sort((a, b) => a.log_ns < b.log_ns ? -1 : a.log_ns > b.log_ns ? 1 : 0)
    .slice(-MAX_ERRORS);
}

function absorbSeries(ours: Series, theirs: Series): void {
  if (theirs.updated_ns > ours.updated_ns) ours.updated_ns = theirs.updated_ns;
  if (ours.type === "gauge" && theirs.type === "gauge") {
    ours.value = theirs.value;
  } else if (ours.type === "counter" && theirs.type === "counter") {
    ours.total = addSums(ours.total, theirs.total);
  } else if (ours.type === "histogram" && theirs.type === "histogram") {
    absorbHistogram(ours, theirs);
  } else if (ours.type === "profile" && theirs.type === "profile") {
    for (const [name, frame] of theirs.frames) {
      const mine = ours.frames.get(name);
      if (mine) {
        mine.value = addSums(mine.value, frame.value);
        mine.samples += frame.samples;
      } else ours.frames.set(name, { ...frame });
    }
  }
}

/** One that counted nothing has no say in the range or the buckets. */
function absorbHistogram(ours: HistogramSeries, theirs: HistogramSeries): void {
  if (ours.count === 0 && theirs.count > 0) {
    ours.min = theirs.min;
    ours.max = theirs.max;
    ours.buckets = copyBuckets(theirs.buckets);
  } else if (theirs.count > 0 || ours.count === 0) {
    ours.min = ours.min === null || theirs.min === null ? null : Math.min(ours.min, theirs.min);
    ours.max = ours.max === null || theirs.max === null ? null : Math.max(ours.max, theirs.max);
    ours.buckets = addBuckets(ours.buckets, theirs.buckets);
  }
  ours.count += theirs.count;
  ours.sum = addSums(ours.sum, theirs.sum);
}

/** Both in the buckets they share; `null` where they have none in common. Takes over `ours`. */
function addBuckets(ours: Buckets | null, theirs: Buckets | null): Buckets | null {
  if (ours === null || theirs === null) return null;
  if ("bins" in ours && "bins" in theirs) {
    for (const [index, times] of theirs.bins) count(ours.bins, index, times);
    return ours;
  }
  return "bounds" in ours && "bounds" in theirs ? addBounds(ours, theirs) : null;
}

function copySeries(series: Series): Series {
  switch (series.type) {
    case "histogram":
      return { ...series, buckets: copyBuckets(series.buckets) };
    case "profile":
      return {
        ...series,
        frames: new Map(Array.from(series.frames, ([name, frame]) => [name, { ...frame }])),
      };
    default:
      return { ...series };
  }
}

function copyBuckets(buckets: Buckets | null): Buckets | null {
  return buckets && "bins" in buckets ? { bins: new Map(buckets.bins) } : buckets;
}

function mergeResources(a: Resource, b: Resource): Resource {
  return {
    ...a,
    attributes: { ...a.attributes, ...b.attributes },
    first_seen_ts: Math.min(a.first_seen_ts, b.first_seen_ts),
    last_seen_ts: Math.max(a.last_seen_ts, b.last_seen_ts),
  };
}
