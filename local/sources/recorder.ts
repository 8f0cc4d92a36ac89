/** What the sources measure, gathered into one window a tick. */

import {
  absorb,
  emptyWindow,
  type ErrorEntry,
  type FrameSum,
  type HistogramSeries,
  type Quantity,
  resourceKey,
  type Series,
  seriesKey,
  type Sum,
  type Tags,
  tsFromNs,
  type Window,
} from "@service/core";
import { absorbEntries } from "@service/core/entries";
import { MAX_ERROR_LENGTH, MAX_MAGNITUDE } from "@service/core/limits";
import { addSums, rounded } from "@service/core/sum";

/** Something that measures: called once a tick, never twice at a time. */
export interface Source {
  /** Measures into `recorder`; gives way to the event loop where it takes more than milliseconds. */
  sample(recorder: Recorder): void | Promise<void>;
  /** Whether {@linkcode Source.refresh} has something to do. */
  canRefresh?(): boolean;
  /** Measures between two samples, for a reader that asks now; within 20 ms, and never beside a sample. */
  refresh?(recorder: Recorder): Promise<void>;
  /** Gets ready for the last sample, within two seconds: the workload has ended. */
  settle?(): Promise<void>;
}

/** What a distribution gained. */
export type Gain = Pick<HistogramSeries, "count" | "sum" | "min" | "max" | "buckets">;

/** Records what sources measure until {@linkcode Recorder.cut} makes a window of it. */
export class Recorder {
  #window: Window;
  #now_ns: () => bigint;

  /** A recorder whose first window starts at `from_ns`. */
  constructor(from_ns: bigint, now_ns: () => bigint) {
    this.#window = emptyWindow(from_ns);
    this.#now_ns = now_ns;
  }

  /** The instant of what is recorded now, epoch nanoseconds. */
  get now_ns(): bigint {
    return this.#now_ns();
  }

  /** Records a gauge's value; one that is not a finite number is not published. */
  gauge(name: string, tags: Tags, value: Quantity): void {
    if (!inRange(value)) return;
    this.#add({ name, type: "gauge", tags, updated_ns: this.now_ns, value });
  }

  /** Records what a counter gained since it was last recorded; zero is an answer too. */
  counter(name: string, tags: Tags, increase: Sum): void {
    if (!inRange(rounded(increase)) || rounded(increase) < 0) return;
    this.#add({ name, type: "counter", tags, updated_ns: this.now_ns, total: increase });
  }

  /** Records what a distribution gained since it was last recorded; nothing is an answer too. */
  histogram(name: string, tags: Tags, gain: Gain): void {
    if (!inRange(rounded(gain.sum))) return;
    this.#merge({ name, type: "histogram", tags, updated_ns: this.now_ns, ...gain });
  }

  /**
   * Records what the frames of a profile gained since they were last recorded; none is an answer too.
   * Takes `frames` over.
   */
  profile(name: string, tags: Tags, frames: Map<string, FrameSum>): void {
    const series: Series = { name, type: "profile", tags, updated_ns: this.now_ns, frames };
    const key = seriesKey(series);
    if (this.#window.series.has(key)) this.#merge(series);
    else this.#window.series.set(key, series);
  }

  /** Records a warning or an error: of now, unless it says when it was logged. */
  error(entry: Omit<ErrorEntry, "log_ns"> & Partial<Pick<ErrorEntry, "log_ns">>): void {
    const cut = (text: string) =>
      text.length > MAX_ERROR_LENGTH ? `${text.slice(0, MAX_ERROR_LENGTH - 1)}…` : text;
    const error = {
      ...entry,
      message: cut(entry.message),
      exception: cut(entry.exception),
      log_ns: entry.log_ns ?? this.now_ns,
    };
    absorbEntries(this.#window, { errors: [error] });
  }

  /** Records that a host, process or device is there. */
  resource(kind: string, tags: Tags, attributes: Tags, first_seen_ts?: number): void {
    const seen_ts = tsFromNs(this.now_ns);
    this.#window.resources.set(resourceKey({ kind, tags }), {
      kind,
      tags,
      attributes,
      first_seen_ts: first_seen_ts ?? seen_ts,
      last_seen_ts: seen_ts,
    });
  }

  /** The window of all recorded since the last cut; the next one starts where it ends. */
  cut(to_ns: bigint): Window {
    const window = this.#window;
    window.to_ns = to_ns;
    this.#window = emptyWindow(to_ns);
    return window;
  }

  #merge(series: Series): void {
    const next = emptyWindow(this.#window.to_ns);
    next.series.set(seriesKey(series), series);
    absorb(this.#window, next);
  }

  #add(series: Series): void {
    const key = seriesKey(series);
    const before = this.#window.series.get(key);
    if (before?.type === "counter" && series.type === "counter") {
      series.total = addSums(before.total, series.total);
    }
    this.#window.series.set(key, series);
  }
}

function inRange(value: Quantity): boolean {
  return value >= -MAX_MAGNITUDE && value <= MAX_MAGNITUDE;
}
