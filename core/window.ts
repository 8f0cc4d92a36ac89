/**
 * Windows: the changes of one instance in a half-open span `(from_ns, to_ns]`. Adjacent windows merge
 * into one, with the same result in any grouping; every cumulative value is such a merge.
 */

import { absorbEntries, type Entries, noEntries } from "./entries.ts";
import { kindOf, type Series } from "./series/mod.ts";
import { type Tags, tagsKey } from "./tags.ts";

/** A measured host, process or device (2.4). */
export interface Resource {
  /** Kind of resource: `host`, `process` or `device`. */
  kind: string;
  /** Tags that identify it within its kind, such as `device.uuid`; none for the host. */
  tags: Tags;
  /** Attributes that describe it, such as `device.name`. */
  attributes: Tags;
  /** Epoch seconds. */
  first_seen_ts: number;
  /** Epoch seconds. */
  last_seen_ts: number;
}

/** The changes of one instance in `(from_ns, to_ns]`. */
export interface Window extends Entries {
  /** Start of the span, exclusive; epoch nanoseconds. */
  readonly from_ns: bigint;
  /** End of the span, inclusive; epoch nanoseconds. */
  to_ns: bigint;
  /** By `seriesKey`. */
  readonly series: Map<string, Series>;
  /** By {@linkcode resourceKey}. */
  readonly resources: Map<string, Resource>;
}

/** The identity of a resource: kind and sorted tags. */
export function resourceKey({ kind, tags }: Pick<Resource, "kind" | "tags">): string {
  return `${kind.length}:${kind}${tagsKey(tags)}`;
}

/** A window without changes at an instant, the identity of merging. */
export function emptyWindow(at_ns: bigint): Window {
  return { from_ns: at_ns, to_ns: at_ns, series: new Map(), resources: new Map(), ...noEntries() };
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
 * Merges `next` into `window` in place, with or without a gap between them. `next` stays as it is, and
 * a later change of either does not change the other.
 */
export function absorb(window: Window, next: Window): void {
  mergeInto(window, next, (series) => kindOf(series).copy(series));
}

/** Merges as {@linkcode absorb} does, but `next` is given up: its series may become the window's. */
export function absorbOwned(window: Window, next: Window): void {
  mergeInto(window, next, (series) => series);
}

function mergeInto(window: Window, next: Window, take: (series: Series) => Series): void {
  // A loop over entries would allocate one for each series, in each second.
  next.series.forEach((theirs, key) => {
    const ours = window.series.get(key);
    if (ours) absorbSeries(ours, theirs);
    else window.series.set(key, take(theirs));
  });
  for (const [key, theirs] of next.resources) {
    const ours = window.resources.get(key);
    window.resources.set(key, ours ? mergeResources(ours, theirs) : { ...theirs });
  }
  absorbEntries(window, next);
  window.to_ns = next.to_ns;
}

/** Merges into `ours` the later increase or value of the same series, which is not changed. */
export function absorbSeries(ours: Series, theirs: Series): void {
  if (theirs.updated_ns > ours.updated_ns) ours.updated_ns = theirs.updated_ns;
  kindOf(ours).absorb(ours, theirs);
}

/** A resource with the attributes of both descriptions; the later one, `b`, replaces those of `a`. */
export function mergeResources(a: Resource, b: Resource): Resource {
  return {
    ...a,
    attributes: { ...a.attributes, ...b.attributes },
    first_seen_ts: Math.min(a.first_seen_ts, b.first_seen_ts),
    last_seen_ts: Math.max(a.last_seen_ts, b.last_seen_ts),
  };
}
