/** Increases of a target's families from one scrape to the next. */

import { catalogue, type Tags } from "@service/core";
import {
  MAX_MAGNITUDE,
  MAX_NAME_LENGTH,
  MAX_SERIES,
  MAX_TAGS,
  MAX_VALUE_LENGTH,
} from "@service/core/limits";
import { readDistribution } from "./distribution.ts";
import type { ExposedSeries, Exposition, Family, Point } from "./exposition.ts";
import {
  type CumulativeDistribution,
  distributionSince,
  type FirstReading,
  increaseSince,
} from "../cumulative.ts";
import type { Pace } from "../pacing.ts";
import {
  type CreatedGauges,
  createdGauges,
  createdOf,
  isLater,
  isOtherProcess,
  startOf,
} from "./starts.ts";
import type { Recorder } from "../recorder.ts";

/** The target, and the start of its instance. */
export interface FamilyReadingsOptions {
  /** Tags added to every series: they identify the target if there are several. */
  tags: Tags;
  /** Value of the tag `metrics.url`, added where the name is one of our own metrics. */
  url: string;
  /** Start of the instance, in epoch seconds. */
  start_seconds: number;
}

/** A target started before the instance only if its start is earlier by more than this: it may be rounded. */
const CLOCK_SLACK_SECONDS = 2;

/** Most last readings that are kept; beyond it those of the series gone for longest are dropped. */
const MAX_LAST_READINGS = 2 * MAX_SERIES;

const OWN_NAMES = new Set(catalogue.map(({ name }) => name));

/** How the counts of a scrape are read. */
export interface RecordOptions {
  /** Whether the counts before the first scrape are the instance's, where the target does not say when it started. */
  first: FirstReading;
  /** The sockets at which the target listens, where they are known. */
  sockets?: string;
  pace: Pace;
}

/** The last reading of a series. */
interface LastReading {
  tags: Tags;
  /** The number of the scrape that it comes from. */
  scrape: number;
  /** Start of its counting, in epoch seconds, where the target tells it. */
  created?: number;
  total?: number;
  distribution?: CumulativeDistribution;
}

/** Records the series of one target, cumulative ones as increases since the last scrape. */
export class FamilyReadings {
  readonly #options: FamilyReadingsOptions;
  readonly #last = new Map<string, LastReading>();
  #first: FirstReading = "increase";
  #scrapes = 0;
  /** Start of the target's process, in epoch seconds, where it tells it. */
  #started: number | undefined;
  #sockets: string | undefined;
  #created: CreatedGauges = new Map();
  /** Whether a scrape was read to its end: a series that appears later counted nothing before. */
  #complete = false;

  /** Readings of a target before its first scrape. */
  constructor(options: FamilyReadingsOptions) {
    this.#options = options;
  }

  /** Records a scrape, and returns the number of series that were refused. */
  async record(
    { families, fault }: Exposition,
    recorder: Recorder,
    { first, sockets, pace }: RecordOptions,
  ): Promise<number> {
    const started = startOf(families);
    if (this.#scrapes++ === 0) this.#first = this.#firstReadingSince(started) ?? first;
    else if (
      started === undefined
        ? this.#isElsewhere(sockets, families)
        : isOtherProcess(this.#started, started)
    ) {
      this.#last.clear();
      this.#first = "increase";
    }
    this.#started = started ?? this.#started;
    this.#sockets = sockets ?? this.#sockets;
    this.#created = createdGauges(families);
    let refused = 0;
    for (const family of families) {
      for (const series of family.series) {
        if (!isWithinLimits(family, series) || !this.#record(family, series, recorder)) refused++;
      }
      await pace();
    }
    if (!fault) this.#complete = true;
    this.#created.clear();
    this.#dropOldest();
    return refused;
  }

  /** Whether another process than before listens: its sockets are others, and a count has fallen. */
  #isElsewhere(sockets: string | undefined, families: readonly Family[]): boolean {
    if (sockets === undefined || this.#sockets === undefined || sockets === this.#sockets) {
      return false;
    }
    return families.some((family) =>
      family.type === "counter" && family.series.some((series) => {
        const point = countOf(series);
        const last = point && this.#last.get(lastKey(family, series, point));
        return last?.total !== undefined && point!.value < last.total;
      })
    );
  }

  /** The meaning of a first reading with this start of counting; `undefined` if the start is unknown. */
  #firstReadingSince(started_seconds: number | undefined): FirstReading | undefined {
    if (started_seconds === undefined || !Number.isFinite(started_seconds)) return undefined;
    const earliest = this.#options.start_seconds - CLOCK_SLACK_SECONDS;
    return started_seconds >= earliest ? "increase" : "base";
  }

  /** Whether the series is one that its type allows. */
  #record(family: Family, series: ExposedSeries, recorder: Recorder): boolean {
    switch (family.type) {
      case "histogram":
      case "summary":
        return this.#recordDistribution(family, series, recorder);
      case "counter":
        return this.#recordCounter(family, series, recorder);
      case "gaugehistogram":
        // Its counts are of the present, and adding windows up would make no sense: plain gauges.
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
    const { tags } = this.#lastReading(family, series, point);
    recorder.gauge(family.name + point.suffix, tags, point.value);
  }

  #recordCounter(family: Family, series: ExposedSeries, recorder: Recorder): boolean {
    const point = countOf(series);
    if (!point) return true;
    if (point.value < 0) return false;
    // An infinite total would make every later increase infinite.
    if (!(point.value <= MAX_MAGNITUDE)) return true;
    const last = this.#lastCount(family, series, point);
    const base = this.#firstReading(last) === "increase" ? 0 : point.value;
    const increase = increaseSince(last.total ?? base, point.value);
    last.total = point.value;
    recorder.counter(family.name + point.suffix, last.tags, increase);
    return true;
  }

  #recordDistribution(family: Family, series: ExposedSeries, recorder: Recorder): boolean {
    const now = readDistribution(family.type, series.points);
    if (now === "not finite") return true;
    if (now === null) return false;
    const last = this.#lastCount(family, series);
    const base = this.#firstReading(last) === "increase" ? undefined : now;
    const increase = distributionSince(last.distribution ?? base, now);
    last.distribution = now;
    recorder.histogram(family.name, last.tags, increase);
    return true;
  }

  #firstReading({ created }: LastReading): FirstReading {
    return this.#firstReadingSince(created) ?? (this.#complete ? "increase" : this.#first);
  }

  /** The last reading of a series that counts, without its values where the series counts anew since. */
  #lastCount(family: Family, series: ExposedSeries, point?: Point): LastReading {
    const last = this.#lastReading(family, series, point);
    const created = createdOf(family, series, this.#created);
    if (isLater(last.created, created)) {
      last.total = undefined;
      last.distribution = undefined;
    }
    last.created = created;
    return last;
  }

  #lastReading(family: Family, series: ExposedSeries, point?: Point): LastReading {
    const key = lastKey(family, series, point);
    let last = this.#last.get(key);
    if (!last) {
      const tags = this.#tags(family, series, point?.bound ?? null);
      last = { tags, scrape: this.#scrapes };
      this.#last.set(detached(key), last);
    }
    last.scrape = this.#scrapes;
    return last;
  }

  #tags(family: Family, { labels }: ExposedSeries, bound: number | null): Tags {
    const { tags, url } = this.#options;
    const pairs: [string, string][] = [];
    for (const [label, value] of Object.entries(labels)) {
      // In Prometheus a label without a value is the same as no label.
      if (value !== "") pairs.push([detached(label), detached(value)]);
    }
    if (bound !== null) pairs.push(["le", String(bound).replace("Infinity", "+Inf")]);
    if (OWN_NAMES.has(family.name)) pairs.push(["metrics.url", url]);
    return Object.freeze({ ...Object.fromEntries(pairs), ...tags });
  }

  #dropOldest(): void {
    if (this.#last.size <= MAX_LAST_READINGS) return;
    const oldest = [...this.#last].sort(([, a], [, b]) => a.scrape - b.scrape);
    for (const [key] of oldest.slice(0, this.#last.size - MAX_SERIES)) this.#last.delete(key);
  }
}

/** The sample of a counter that counts. */
function countOf({ points }: ExposedSeries): Point | undefined {
  return points.find(({ suffix }) => suffix !== "_created");
}

/** The key of a series' last reading. */
function lastKey({ name, type }: Family, { key }: ExposedSeries, point?: Point): string {
  return `${name}\n${type}\n${point?.suffix ?? ""}\n${point?.bound ?? ""}\n${key}`;
}

/** Whether a payload and an upload take the series. */
function isWithinLimits({ name }: Family, { labels }: ExposedSeries): boolean {
  const entries = Object.entries(labels);
  // There must be room for the added tags, and for the suffix of a sample's name.
  return name.length <= MAX_NAME_LENGTH - 16 && entries.length <= MAX_TAGS - 4 &&
    entries.every(([label, value]) =>
      label.length <= MAX_NAME_LENGTH && value.length <= MAX_VALUE_LENGTH
    );
}

/** A copy of the text in memory of its own: a slice of a page keeps all of the page in memory. */
function detached(text: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(text));
}
