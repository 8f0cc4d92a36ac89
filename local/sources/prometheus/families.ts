/** What a target's families gain from one scrape to the next. */

import { type Bounds, catalogue, type Sum, type Tags } from "@service/core";
import {
  MAX_MAGNITUDE,
  MAX_NAME_LENGTH,
  MAX_SERIES,
  MAX_TAGS,
  MAX_VALUE_LENGTH,
} from "@service/core/limits";
import { difference } from "@service/core/sum";
import { type Distribution, readDistribution } from "./distribution.ts";
import type { ExposedSeries, Exposition, Family, Point } from "./exposition.ts";
import type { FirstReading } from "../cumulative.ts";
import type { Gain, Recorder } from "../recorder.ts";

/** Whose families they are. */
export interface FamilyReadingsOptions {
  /** Tells the target apart where there are several, else empty. */
  tags: Tags;
  /** Stands as the tag `metrics.url` where a name is one of our own. */
  url: string;
  /** Start of the instance, in epoch seconds. */
  start_seconds: number;
}

/** A start is taken for earlier than the instance's only if it is so by more: it may be rounded. */
const CLOCK_SLACK_SECONDS = 2;

/** Series that are remembered; past it, those are forgotten that were gone for longest. */
const MAX_REMEMBERED = 2 * MAX_SERIES;

const OWN_NAMES = new Set(catalogue.map(({ name }) => name));

/** A series that was seen before. */
interface Remembered {
  tags: Tags;
  /** The number of the scrape that had it last. */
  scrape: number;
  total?: number;
  distribution?: Distribution;
}

/** The last readings of one target. */
export class FamilyReadings {
  readonly #options: FamilyReadingsOptions;
  readonly #series = new Map<string, Remembered>();
  #first: FirstReading = "counts";
  #scrapes = 0;
  /** Whether a scrape was whole: then a series that is new has counted nothing before. */
  #complete = false;

  /** Readings of a target that was not scraped yet. */
  constructor(options: FamilyReadingsOptions) {
    this.#options = options;
  }

  /**
   * Records what a scrape shows. Where the target does not say when it started, `first` tells whether
   * what it counted before the first scrape belongs to the instance. How many series it had to refuse.
   */
  async record(
    { families, fault }: Exposition,
    recorder: Recorder,
    { first, pause }: { first: FirstReading; pause: () => Promise<void> | void },
  ): Promise<number> {
    if (this.#scrapes++ === 0) {
      const start = families.find(({ name }) => name === "process_start_time_seconds");
      this.#first = this.#since(start?.series[0]?.points[0]?.value) ?? first;
    }
    let refused = 0;
    for (const family of families) {
      for (const series of family.series) {
        if (!isWithinLimits(family, series) || !this.#record(family, series, recorder)) refused++;
      }
      await pause();
    }
    if (!fault) this.#complete = true;
    this.#forget();
    return refused;
  }

  /** Whether what started then belongs to the instance; `undefined` where it is not said when. */
  #since(started_seconds: number | undefined): FirstReading | undefined {
    if (started_seconds === undefined || !Number.isFinite(started_seconds)) return undefined;
    const earliest = this.#options.start_seconds - CLOCK_SLACK_SECONDS;
    return started_seconds >= earliest ? "counts" : "is the base";
  }

  /** `false` if the series is not one that its type allows. */
  #record(family: Family, series: ExposedSeries, recorder: Recorder): boolean {
    switch (family.type) {
      case "histogram":
      case "summary":
        return this.#recordDistribution(family, series, recorder);
      case "counter":
        return this.#recordCounter(family, series, recorder);
      case "gaugehistogram":
        // It counts what there is now, so that adding windows up would make no sense: plain gauges.
        for (const point of series.points) this.#recordGauge(family, series, { point, recorder });
        return true;
      default:
        this.#recordGauge(family, series, { point: series.points[0]!, recorder });
        return true;
    }
  }

  #recordGauge(
    family: Family,
    series: ExposedSeries,
    { point, recorder }: { point: Point; recorder: Recorder },
  ): void {
    const { tags } = this.#remember(family, series, point);
    recorder.gauge(family.name + point.suffix, tags, point.value);
  }

  #recordCounter(family: Family, series: ExposedSeries, recorder: Recorder): boolean {
    const point = series.points.find(({ suffix }) => suffix !== "_created");
    if (!point) return true;
    if (point.value < 0) return false;
    // It would spoil what is added to it later.
    if (!(point.value <= MAX_MAGNITUDE)) return true;
    const known = this.#remember(family, series, point);
    const base = this.#firstReading(series) === "counts" ? 0 : point.value;
    const increase = increaseSince(known.total ?? base, point.value);
    known.total = point.value;
    recorder.counter(family.name + point.suffix, known.tags, increase);
    return true;
  }

  #recordDistribution(family: Family, series: ExposedSeries, recorder: Recorder): boolean {
    const now = readDistribution(family.type, series.points);
    if (now === "not finite") return true;
    if (now === null) return false;
    const known = this.#remember(family, series);
    const base = this.#firstReading(series) === "counts" ? undefined : now;
    const gain = gained(known.distribution ?? base, now);
    known.distribution = now;
    recorder.histogram(family.name, known.tags, gain);
    return true;
  }

  #firstReading({ points }: ExposedSeries): FirstReading {
    const created = points.find(({ suffix }) => suffix === "_created");
    return this.#since(created?.value) ?? (this.#complete ? "counts" : this.#first);
  }

  #remember(family: Family, series: ExposedSeries, point?: Point): Remembered {
    const bound = point?.bound ?? null;
    const suffix = point?.suffix ?? "";
    const key = `${family.name}\n${family.type}\n${suffix}\n${bound ?? ""}\n${series.key}`;
    let known = this.#series.get(key);
    if (!known) {
      known = { tags: this.#tags(family, series, bound), scrape: this.#scrapes };
      this.#series.set(ofItsOwn(key), known);
    }
    known.scrape = this.#scrapes;
    return known;
  }

  #tags(family: Family, { labels }: ExposedSeries, bound: number | null): Tags {
    const { tags, url } = this.#options;
    const made: [string, string][] = [];
    for (const [label, value] of Object.entries(labels)) {
      // To Prometheus a label without a value is one that is not there.
      if (value !== "") made.push([ofItsOwn(label), ofItsOwn(value)]);
    }
    if (bound !== null) made.push(["le", String(bound).replace("Infinity", "+Inf")]);
    if (OWN_NAMES.has(family.name)) made.push(["metrics.url", url]);
    return Object.freeze({ ...Object.fromEntries(made), ...tags });
  }

  #forget(): void {
    if (this.#series.size <= MAX_REMEMBERED) return;
    const oldest = [...this.#series].sort(([, a], [, b]) => a.scrape - b.scrape);
    for (const [key] of oldest.slice(0, this.#series.size - MAX_SERIES)) this.#series.delete(key);
  }
}

/** A counter that falls has started again from zero. */
function increaseSince(last: number, now: number): Sum {
  return now < last ? now : difference(now, last);
}

/** A bucket that falls means the same for the whole distribution. */
function gained(last: Distribution | undefined, now: Distribution): Gain {
  const whole = { ...now, min: null, max: null };
  if (!last || now.count < last.count) return whole;
  const count = now.count - last.count;
  const sum = difference(now.sum, last.sum);
  if (!last.buckets || !now.buckets) return { ...whole, count, sum };
  const buckets = subtract(now.buckets, last.buckets);
  return buckets.counts.some((times) => times < 0) ? whole : { ...whole, count, sum, buckets };
}

/** In the bounds that both have: a target may have changed them. */
function subtract(now: Bounds, last: Bounds): Bounds {
  const known = new Set(last.bounds);
  const bounds = now.bounds.filter((bound) => known.has(bound));
  const before = cumulative(last, bounds);
  const after = cumulative(now, bounds);
  const counts = after.map((times, i) =>
    times - before[i]! - (i === 0 ? 0 : after[i - 1]! - before[i - 1]!)
  );
  return { bounds, counts };
}

/** How many values lie at or below each of `bounds`, which are some of those it has; and how many in all. */
function cumulative({ bounds, counts }: Bounds, wanted: readonly number[]): number[] {
  const found: number[] = [];
  let sum = 0;
  counts.forEach((times, i) => {
    sum += times;
    if (i === bounds.length || bounds[i] === wanted[found.length]) found.push(sum);
  });
  return found;
}

/** What a payload and an upload take. */
function isWithinLimits({ name }: Family, { labels }: ExposedSeries): boolean {
  const entries = Object.entries(labels);
  // Room for the tags that are added, and for what a sample's name has behind the family's.
  return name.length <= MAX_NAME_LENGTH - 16 && entries.length <= MAX_TAGS - 4 &&
    entries.every(([label, value]) =>
      label.length <= MAX_NAME_LENGTH && value.length <= MAX_VALUE_LENGTH
    );
}

/** The text in memory of its own: a part of a page would keep the whole page in memory. */
function ofItsOwn(text: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(text));
}
