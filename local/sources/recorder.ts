/**
 * The recorder: gathers the measurements of all sources into one window a tick. Two recordings of one
 * series or resource within a tick merge by the rules of adjacent windows.
 */

import {
  emptyWindow,
  type ErrorEntry,
  type FrameSum,
  type HistogramSeries,
  type Quantity,
  type Resource,
  resourceKey,
  type Series,
  seriesKey,
  type Sum,
  type Tags,
  tsFromNs,
  type Window,
} from "@service/core";
import { absorbEntries, takeLater } from "@service/core/entries";
import { MAX_ERROR_LENGTH, MAX_MAGNITUDE } from "@service/core/limits";
import type { ValuesOf } from "@service/core/series";
import { rounded } from "@service/core/sum";
import { absorbSeries, mergeResources } from "@service/core/window";

/** The increase of a distribution. */
export type HistogramIncrease = ValuesOf<HistogramSeries>;

/** How a window is cut. */
export interface CutOptions {
  /** Whether no window follows. */
  isLast?: boolean;
}

/** Key of a series with known tags. */
interface KnownKey extends Pick<Series, "name" | "type"> {
  key: string;
}

/** Gathers measurements until {@linkcode Recorder.cut} makes a window of them. */
export class Recorder {
  #window: Window;
  #now_ns: () => bigint;
  /** Series by frozen tags, which a source keeps: a key each second would be most of the garbage. */
  readonly #keys = new WeakMap<Tags, KnownKey[]>();

  /** A recorder whose first window starts at `from_ns`. */
  constructor(from_ns: bigint, now_ns: () => bigint) {
    this.#window = emptyWindow(from_ns);
    this.#now_ns = now_ns;
  }

  /** The instant that measurements get now, epoch nanoseconds. */
  get now_ns(): bigint {
    return this.#now_ns();
  }

  /** Sets a gauge; a value that is not a finite number is not published. */
  gauge(name: string, tags: Tags, value: Quantity): void {
    if (!inRange(value)) return;
    this.#add({ name, type: "gauge", tags, updated_ns: this.now_ns, value });
  }

  /** Adds an increase to a counter; 0 publishes the series. */
  counter(name: string, tags: Tags, increase: Sum): void {
    if (!inRange(rounded(increase)) || rounded(increase) < 0) return;
    this.#add({ name, type: "counter", tags, updated_ns: this.now_ns, total: increase });
  }

  /** Adds an increase to a histogram; an empty one publishes the series. Takes `increase` over. */
  histogram(name: string, tags: Tags, increase: HistogramIncrease): void {
    if (!inRange(rounded(increase.sum))) return;
    this.#add({ name, type: "histogram", tags, updated_ns: this.now_ns, ...increase });
  }

  /** Adds increases to the frames of a profile; none publishes the series. Takes `frames` over. */
  profile(name: string, tags: Tags, frames: Map<string, FrameSum>): void {
    this.#add({ name, type: "profile", tags, updated_ns: this.now_ns, frames });
  }

  /** Adds a warning or an error, with the present time unless it has a time. */
  error(entry: Omit<ErrorEntry, "log_ns"> & Partial<Pick<ErrorEntry, "log_ns">>): void {
    const { message, exception, log_ns = this.now_ns } = entry;
    absorbEntries(this.#window, {
      errors: [{ ...entry, message: shortened(message), exception: shortened(exception), log_ns }],
    });
  }

  /** Adds a warning of the profiler itself. */
  warn(message: string, tags?: Tags): void {
    const entry = { level: "warning", message: `service-run: ${message}`, exception: "" } as const;
    this.error({ ...entry, ...(tags && { tags }) });
  }

  /** Adds a host, process or device that is seen now, with its attributes. */
  resource(kind: string, tags: Tags, attributes: Tags, first_seen_ts?: number): void {
    const last_seen_ts = tsFromNs(this.now_ns);
    const seen: Resource = {
      kind,
      tags,
      attributes,
      first_seen_ts: first_seen_ts ?? last_seen_ts,
      last_seen_ts,
    };
    const key = resourceKey(seen);
    const before = this.#window.resources.get(key);
    this.#window.resources.set(key, before ? mergeResources(before, seen) : seen);
  }

  /**
   * The window of all records since the last cut; the next one starts at its end, and has the entries
   * that happened later than that. The last window has these too, as of its end.
   */
  cut(to_ns: bigint, { isLast = false }: CutOptions = {}): Window {
    const window = this.#window;
    window.to_ns = to_ns;
    this.#window = emptyWindow(to_ns);
    const later = takeLater(window, to_ns);
    if (isLast) window.errors.push(...later.errors.map((entry) => ({ ...entry, log_ns: to_ns })));
    else absorbEntries(this.#window, later);
    return window;
  }

  #add(series: Series): void {
    const key = this.#keyOf(series);
    const before = this.#window.series.get(key);
    if (before) absorbSeries(before, series);
    else this.#window.series.set(key, series);
  }

  #keyOf(series: Series): string {
    if (!Object.isFrozen(series.tags)) return seriesKey(series);
    let keys = this.#keys.get(series.tags);
    if (!keys) this.#keys.set(series.tags, keys = []);
    const known = keys.find(({ name, type }) => name === series.name && type === series.type);
    if (known) return known.key;
    const { name, type } = series;
    const key = seriesKey(series);
    keys.push({ name, type, key });
    return key;
  }
}

function inRange(value: Quantity): boolean {
  return value >= -MAX_MAGNITUDE && value <= MAX_MAGNITUDE;
}

function shortened(text: string): string {
  return text.length > MAX_ERROR_LENGTH ? `${text.slice(0, MAX_ERROR_LENGTH - 1)}…` : text;
}
