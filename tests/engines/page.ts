/**
 * The page of an engine beside the document of its run: what every series should be, by a reader of
 * Prometheus text of its own, and what the document and its window say that it is.
 */

import type { Metric, Tags } from "@service/core";
import { httpReader } from "@service/core/http_reader";
import { readLocal, type Run } from "../stack.ts";

/** A series, in the form in which both sides are compared. */
interface Reading {
  type: string;
  /** Total of a counter, value of a gauge, count and sum of a histogram. */
  values: number[];
  /** Counts up to each bound of a histogram, by bound. */
  buckets: Record<string, number>;
}

/** Series by name and tags. */
export type Readings = Map<string, Reading>;

const SAMPLE = /^([\w:]+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** The series of a page in Prometheus text 0.0.4. */
export function readPage(text: string): Readings {
  const lines = text.trimEnd().split("\n");
  const types = new Map(
    lines.filter((line) => line.startsWith("# TYPE ")).map((line) => {
      const [, , name, type] = line.split(" ");
      return [name!, type!] as const;
    }),
  );
  const readings: Readings = new Map();
  for (const line of lines.filter((line) => !line.startsWith("#"))) {
    const [, name, labels = "", value] = SAMPLE.exec(line)!;
    // What is no number is left out of documents.
    if (value === "NaN") continue;
    const pairs = Array.from(labels.matchAll(LABEL), ([, label, text]) => [label!, text!] as const)
      .filter(([, text]) => text !== "");
    const own = types.get(name!);
    const [, base, suffix] = own ? [] : /^(.*)_(bucket|sum|count)$/.exec(name!)!;
    // A summary has no buckets: a histogram of which only the count and the sum are known.
    const type = own ?? "histogram";
    const { le, ...others } = Object.fromEntries(pairs);
    const tags = suffix === "bucket" || le === undefined ? others : { ...others, le };
    const key = keyOf(base ?? name!, tags);
    const reading = readings.get(key) ?? { type, values: [], buckets: {} };
    readings.set(key, reading);
    if (suffix === "bucket") {
      if (le !== "+Inf") reading.buckets[Number(le)] = Number(value);
    } else reading.values[suffix === "sum" ? 1 : 0] = Number(value);
  }
  return readings;
}

/** The series of an engine that counted what `first` says, and what `second` says after a restart. */
export function afterRestart(first: Readings, second: Readings): Readings {
  const readings = new Map(first);
  for (const [key, reading] of second) {
    const before = first.get(key);
    if (!before || reading.type === "gauge") readings.set(key, reading);
    else {
      const buckets = Object.entries(reading.buckets).map(([bound, count]) =>
        [bound, count + before.buckets[bound]!] as const
      );
      readings.set(key, {
        type: reading.type,
        values: reading.values.map((value, i) => value + before.values[i]!),
        buckets: Object.fromEntries(buckets),
      });
    }
  }
  return readings;
}

/** The differences between a page and the document of a run, those of series named in `moving` aside. */
export async function differences(
  run: Run,
  expected: Readings,
  moving: RegExp = /^$/,
): Promise<string[]> {
  const names = new Set([...expected.keys()].map((key) => key.split("{")[0]!));
  const { metrics } = await readLocal(run);
  const buckets = await bucketsOf(run);
  const found: Readings = new Map();
  for (const metric of metrics.filter(({ name }) => names.has(name))) {
    const key = keyOf(metric.name, metric.tags);
    const reading = {
      type: metric.type,
      values: valuesOf(metric),
      buckets: buckets.get(key) ?? {},
    };
    found.set(key, reading);
  }
  const text = (reading?: Reading) =>
    reading && JSON.stringify({ ...reading, values: reading.values.map(comparable) });
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((key) => {
    const [page, document] = [text(expected.get(key)), text(found.get(key))];
    return page === document || moving.test(key)
      ? []
      : [`${key}: ${page}, and it says ${document}`];
  });
}

/** Sums in another order differ in their last digits. */
function comparable(value: number): string {
  return value.toPrecision(12);
}

function valuesOf({ stats }: Metric): number[] {
  if ("total" in stats) return [Number(stats.total)];
  if ("value" in stats) return [Number(stats.value)];
  return "count" in stats ? [stats.count, Number(stats.sum)] : [];
}

/** The buckets of all histograms in the run's window. */
async function bucketsOf(run: Run): Promise<Map<string, Record<string, number>>> {
  const reader = httpReader({ url: await run.url, fetch });
  const span = { from_ns: 0n, to_ns: BigInt(Date.now()) * 1_000_000n };
  const instances = await reader.instances({}, span, { limit: 1 });
  const found = new Map<string, Record<string, number>>();
  const ids = instances.map(({ instance_id }) => instance_id);
  for await (const { window } of reader.windows(ids, span, {})) {
    for (const series of window.series.values()) {
      if (series.type !== "histogram" || !series.buckets || !("bounds" in series.buckets)) continue;
      const { bounds, counts } = series.buckets;
      let below = 0;
      const upTo = bounds.map((bound, i) => [bound, below += counts[i]!] as const);
      found.set(keyOf(series.name, series.tags), Object.fromEntries(upTo));
    }
  }
  return found;
}

function keyOf(name: string, tags: Tags): string {
  const pairs = Object.entries(tags).sort(([a], [b]) => a < b ? -1 : 1);
  return `${name}{${pairs.map(([label, value]) => `${label}="${value}"`)}}`;
}
