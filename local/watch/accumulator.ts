/** The accumulator: everything that an instance has measured, and the part since the last upload. */

import {
  absorb,
  emptyWindow,
  type FrameSum,
  seriesKey,
  tsFromNs,
  type Window,
} from "@service/core";
import type { Interval } from "@service/core/gaps";
import { MAX_FRAMES, MAX_RESOURCES, MAX_SERIES, OTHER_FRAME } from "@service/core/limits";
import { addSums } from "@service/core/sum";
import { SECOND_NS } from "@service/core/time";

/**
 * At the limit, series that were not updated for longer than this are evicted for new ones, the oldest
 * first. It is longer than the time between two cuts, so that no series of a cut is evicted before it.
 */
const SILENT_NS = 15n * SECOND_NS;

/** Windows are cut where a whole second is a multiple of this. */
const CUT_NS = 10n * SECOND_NS;

/** Series that are evicted at once, so that it is rare. */
const EVICTED_AT_ONCE = 1_000;

const DROPPED = { name: "profiler_dropped_series_total", type: "counter", tags: {} } as const;
const EVICTED = { name: "profiler_evicted_series_total", type: "counter", tags: {} } as const;

/** The accumulator's own series, for which there is always room. */
const OWN = [DROPPED, EVICTED];

/** Whether a window is the last of those between two cuts. */
export function endsCut({ from_ns, to_ns }: Interval): boolean {
  return to_ns / CUT_NS > from_ns / CUT_NS;
}

/** The two windows that every tick is merged into. */
export class Accumulator {
  /** Everything since the instance start. */
  readonly total: Window;
  #sinceCut: Window;

  /** An accumulator in which nothing has happened yet. */
  constructor(start_ns: bigint) {
    this.total = emptyWindow(start_ns);
    this.#sinceCut = emptyWindow(start_ns);
  }

  /** Merges the window of one tick into both, as far as the limits of an instance allow. */
  add(window: Window): void {
    this.#limitResources(window);
    this.#limitFrames(window);
    const { dropped, evicted } = this.#limitSeries(window);
    for (const [identity, total] of [[DROPPED, dropped], [EVICTED, evicted]] as const) {
      window.series.set(seriesKey(identity), { ...identity, updated_ns: window.to_ns, total });
    }
    absorb(this.total, window);
    absorb(this.#sinceCut, window);
  }

  /** The window since the last cut; the next one starts at its end. */
  cut(): Window {
    const window = this.#sinceCut;
    this.#sinceCut = emptyWindow(window.to_ns);
    return window;
  }

  /** Removes from `window` the new series for which there is no room. */
  #limitSeries(window: Window): { dropped: number; evicted: number } {
    const { series } = this.total;
    const fresh: string[] = [];
    for (const key of window.series.keys()) if (!series.has(key)) fresh.push(key);
    const ownMissing = OWN.filter((identity) => !series.has(seriesKey(identity))).length;
    const excess = () => Math.max(0, series.size + ownMissing + fresh.length - MAX_SERIES);
    let evicted = 0;
    if (excess() > 0) {
      const silent = [...series]
        .filter(([, { updated_ns }]) => updated_ns < window.to_ns - SILENT_NS)
        .sort(([, a], [, b]) => a.updated_ns < b.updated_ns ? -1 : 1)
        .slice(0, Math.max(excess(), EVICTED_AT_ONCE));
      for (const [key] of silent) series.delete(key);
      evicted = silent.length;
    }
    const dropped = fresh.slice(Math.max(0, fresh.length - excess()));
    for (const key of dropped) window.series.delete(key);
    return { dropped: dropped.length, evicted };
  }

  /** Merges the new frames of a full profile into one. */
  #limitFrames({ series }: Window): void {
    series.forEach((added, key) => {
      if (added.type !== "profile") return;
      const kept = this.total.series.get(key);
      const known = kept?.type === "profile" ? kept.frames : new Map<string, FrameSum>();
      if (known.size + added.frames.size > MAX_FRAMES) foldFrames(added.frames, known);
    });
  }

  #limitResources(window: Window): void {
    const { resources } = this.total;
    if (resources.size + window.resources.size <= MAX_RESOURCES) return;
    const gone_ts = tsFromNs(window.to_ns - SILENT_NS);
    for (const [key, { last_seen_ts }] of resources) {
      if (last_seen_ts < gone_ts) resources.delete(key);
    }
    for (const key of window.resources.keys()) {
      if (resources.has(key)) continue;
      if (resources.size + window.resources.size > MAX_RESOURCES) window.resources.delete(key);
    }
  }
}

/** Leaves in `frames` those of `known`, and others while there is room; merges the rest into one. */
function foldFrames(frames: Map<string, FrameSum>, known: ReadonlyMap<string, FrameSum>): void {
  let room = MAX_FRAMES - known.size + (known.has(OTHER_FRAME) ? 1 : 0);
  const other: FrameSum = { value: 0, samples: 0, ...frames.get(OTHER_FRAME) };
  let folded = false;
  for (const [name, { value, samples }] of frames) {
    if (name === OTHER_FRAME || known.has(name) || room-- > 0) continue;
    frames.delete(name);
    other.value = addSums(other.value, value);
    other.samples += samples;
    folded = true;
  }
  if (folded) frames.set(OTHER_FRAME, other);
}
