/** Readings: what was read of one instance, step by step, and the numbers of a part of it. */

import type { Interval } from "../gaps.ts";
import type { Instance } from "../payload.ts";
import type { HistogramSeries, Series } from "../series/mod.ts";
import { locateQuantile } from "../series/mod.ts";
import { rounded } from "../sum.ts";
import type { Tags } from "../tags.ts";
import type { Window } from "../window.ts";
import type { KernelLabel } from "./kernel_label.ts";
import type { Durations, Level } from "./level.ts";

/** One step of a read: the merge of its windows, and what it lacks. */
export interface StepRead {
  /** The merge of the windows that end in the step. */
  window: Window;
  /** Parts of the step of which nothing is known. */
  gaps: readonly Interval[];
}

/** What was read of one instance. */
export interface InstanceRead {
  /** The instance. */
  instance: Instance;
  /** The span that was asked for. */
  asked: Interval;
  /** Steps of it with windows, in order; of what is between them nothing is known. */
  steps: readonly StepRead[];
  /** Whether the workload may still run. */
  is_running: boolean;
  /** Whether facts are of start-up too. */
  keepsStartUp?: boolean;
  /** Labels of kernels; those of `kernelLabels()` know what they have read before. */
  labelOf?: (symbol: string) => KernelLabel;
}

/** A step: its span, its length without gaps, and its window. */
export interface MeasuredStep extends Interval {
  /** Seconds that windows cover. */
  seconds: number;
  /** The merge of its windows. */
  window: Window;
}

/** Series of a name that have all of these tags. */
export type Filter = Readonly<Record<string, string>>;

/** The numbers of consecutive steps, and of the merge of them. */
export class Reading {
  /** The steps. */
  readonly steps: readonly MeasuredStep[];
  /** The merge of all steps. */
  readonly window: Window;
  /** Seconds that windows cover. */
  readonly seconds: number;
  readonly #byName = new Map<string, Series[]>();
  readonly #byTag = new Map<string, Map<string, Series[]>>();
  readonly #keys = new Map<Series, string>();

  /** The numbers of `steps`, whose merge is `window`. */
  constructor(steps: readonly MeasuredStep[], window: Window) {
    this.steps = steps;
    this.window = window;
    this.seconds = steps.reduce((sum, { seconds }) => sum + seconds, 0);
    for (const [key, series] of window.series) {
      this.#keys.set(series, key);
      const known = this.#byName.get(series.name);
      if (known) known.push(series);
      else this.#byName.set(series.name, [series]);
    }
  }

  /** Series of a name with these tags. */
  series(name: string, filter: Filter = {}): Series[] {
    const wanted = Object.entries(filter);
    let fewest = this.#byName.get(name) ?? [];
    for (const [tag, value] of wanted) {
      const some = this.#withTag(name, tag).get(value) ?? [];
      if (some.length < fewest.length) fewest = some;
    }
    return fewest.filter(({ tags }) => wanted.every(([key, value]) => tags[key] === value));
  }

  /** Tags of the first series of a name; none without one. */
  tagsOf(name: string): Tags {
    return this.#byName.get(name)?.[0]?.tags ?? {};
  }

  /** Series of a name by the values of one tag: of thousands, each is asked for by itself. */
  #withTag(name: string, tag: string): Map<string, Series[]> {
    const key = `${name}\n${tag}`;
    let known = this.#byTag.get(key);
    if (!known) {
      known = new Map();
      for (const series of this.#byName.get(name) ?? []) {
        const value = series.tags[tag];
        if (value === undefined) continue;
        const some = known.get(value);
        if (some) some.push(series);
        else known.set(value, [series]);
      }
      this.#byTag.set(key, known);
    }
    return known;
  }

  /** Sum of counters over the span; `null` without a series. */
  total(name: string, filter: Filter = {}): number | null {
    const totals = this.series(name, filter).flatMap((series) =>
      series.type === "counter" ? [rounded(series.total)] : []
    );
    return totals.length > 0 ? totals.reduce((sum, one) => sum + one, 0) : null;
  }

  /** Sum of counters a second of covered time. */
  rate(name: string, filter: Filter = {}): number | null {
    const total = this.total(name, filter);
    return total === null || this.seconds <= 0 ? null : total / this.seconds;
  }

  /** Newest value of a gauge, the greatest of several series. */
  newest(name: string, filter: Filter = {}): number | null {
    const values = this.series(name, filter).flatMap((series) =>
      series.type === "gauge" ? [Number(series.value)] : []
    );
    return values.length > 0 ? Math.max(...values) : null;
  }

  /**
   * How gauges stood: the sum of several series in each step. The mean of one with a
   * `_distribution` beside it is exact; else it is that of the newest values of the steps.
   */
  level(name: string, filter: Filter = {}): Level | null {
    const values: { value: number; seconds: number }[] = [];
    const keys = this.series(name, filter).map((series) => this.#keys.get(series)!);
    if (keys.length === 0) return null;
    for (const { window, seconds } of this.steps) {
      let sum: number | null = null;
      for (const key of keys) {
        const series = window.series.get(key);
        if (series?.type === "gauge") sum = (sum ?? 0) + Number(series.value);
      }
      if (sum !== null) values.push({ value: sum, seconds: Math.max(seconds, 1e-3) });
    }
    if (values.length === 0) return null;
    const seconds = values.reduce((sum, one) => sum + one.seconds, 0);
    const each = values.map(({ value }) => value);
    const level = {
      mean: values.reduce((sum, one) => sum + one.value * one.seconds, 0) / seconds,
      min: Math.min(...each),
      max: Math.max(...each),
      last: each.at(-1)!,
    };
    const [distribution, ...others] = this.histograms(`${name}_distribution`, filter);
    if (!distribution || others.length > 0 || distribution.count === 0) return level;
    return {
      ...level,
      mean: rounded(distribution.sum) / distribution.count,
      min: distribution.min ?? level.min,
      max: distribution.max ?? level.max,
    };
  }

  /** Histograms of a name with these tags. */
  histograms(name: string, filter: Filter = {}): HistogramSeries[] {
    return this.series(name, filter).filter((series) => series.type === "histogram");
  }

  /** How long things took, of the histogram with most values; `unit` is its unit in seconds. */
  durations(name: string, filter: Filter = {}, unit = 1): Durations | null {
    const all = this.histograms(name, filter).filter(({ count }) => count > 0);
    const [most] = all.toSorted((a, b) => b.count - a.count);
    if (!most) return null;
    const count = all.reduce((sum, one) => sum + one.count, 0);
    const sum = all.reduce((total, one) => total + rounded(one.sum), 0);
    return {
      count,
      mean_seconds: sum * unit / count,
      p50: scaled(locateQuantile(most, 0.5), unit),
      p95: scaled(locateQuantile(most, 0.95), unit),
    };
  }
}

function scaled(
  location: ReturnType<typeof locateQuantile>,
  unit: number,
): ReturnType<typeof locateQuantile> {
  if (location === null) return null;
  if ("near" in location) return { near: location.near * unit };
  if ("below" in location) return { below: location.below * unit };
  return { above: location.above * unit };
}
