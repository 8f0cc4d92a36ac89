/** Random values of this package's types, for its property tests. */

import fc from "fast-check";
import { binIndex, type Bins, count } from "../bins.ts";
import type { ErrorEntry } from "../entries.ts";
import { MAX_MAGNITUDE } from "../limits.ts";
import { type Buckets, type HistogramSeries, type Series, seriesKey } from "../series/mod.ts";
import { addSums, quantity, rounded, type Sum } from "../sum.ts";
import { wholeSecond } from "../time.ts";
import type { Upload } from "../upload.ts";
import { type Resource, resourceKey, type Window } from "../window.ts";

fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: 500 });

/** Fractions for quantiles; the ends are likely. */
export const fractions: fc.Arbitrary<number> = fc.oneof(
  fc.double({ noNaN: true, min: 0, max: 1 }),
  fc.constantFrom(0, 0.5, 0.95, 1),
);

/** Any finite double within the limits; those with the worst rounding are likely. */
export const doubles: fc.Arbitrary<number> = fc.oneof(
  fc.double({ noNaN: true, min: -1e300, max: 1e300 }),
  fc.integer({ min: -1000, max: 1000 }),
  fc.integer({ min: -1000, max: 1000 }).map((n) => n / 10),
  fc.maxSafeInteger(),
  fc.constantFrom(1e300, -1e300, 5e-324, -5e-324, 2 ** 53, -(2 ** 53), 2 ** 53 + 2, 2 ** -53, -0),
);

/** Doubles, every order of magnitude equally likely. */
export const scaled: fc.Arbitrary<number> = fc.oneof(
  fc.constant(0),
  fc.tuple(fc.integer({ min: -299, max: 299 }), fc.double({ noNaN: true, min: 1, max: 10 }))
    .map(([exponent, digits]) => digits * 10 ** exponent),
).chain((size) => fc.constantFrom(size, -size));

/** Exact sums, many of them of several parts. */
export const sums: fc.Arbitrary<Sum> = fc.array(doubles, { minLength: 1, maxLength: 4 })
  .map((values) => values.reduce<Sum>(addSums, 0))
  .filter(withinLimits);

/** Exact sums of values that are not negative. */
export const increases: fc.Arbitrary<Sum> = fc.array(doubles, { minLength: 1, maxLength: 4 })
  .map((values) => values.map(Math.abs).reduce<Sum>(addSums, 0))
  .filter(withinLimits);

function withinLimits(sum: Sum): boolean {
  return Math.abs(rounded(sum)) <= MAX_MAGNITUDE;
}

/** Doubles as in JSON text, without negative zero. */
const written = doubles.map((value) => value + 0);

/** Tags that series share, with unusual keys and values. */
export const tags: fc.Arbitrary<Record<string, string>> = fc.oneof(
  fc.constantFrom<Record<string, string>>({}, { "process.pid": "7" }),
  fc.constantFrom<Record<string, string>>({}, { "process.pid": "7" }),
  fc.dictionary(
    fc.oneof(
      fc.constantFrom("__proto__", "constructor", "a_ns", "k;:%"),
      fc.string({ minLength: 1, unit: "grapheme" }),
    ),
    fc.string({ unit: "grapheme" }),
    { maxKeys: 3, noNullPrototype: true },
  ),
);

const names = fc.constantFrom("a_bytes", "b_seconds", "__proto__");
const counts = fc.nat({ max: 1000 });

/** Epoch nanoseconds up to 2^62, most of them above 2^53. */
export const instants: fc.Arbitrary<bigint> = fc.bigInt({ min: 0n, max: 2n ** 62n });

function binsOf(values: readonly number[]): Bins {
  const bins: Bins = new Map();
  for (const value of values) count(bins, binIndex(value));
  return bins;
}

const buckets: fc.Arbitrary<Buckets | null> = fc.oneof(
  fc.constant(null),
  fc.array(doubles, { maxLength: 5 }).map((values) => ({ bins: binsOf(values) })),
  fc.subarray([-1, 0, 0.1, 0.25, 1, 1e300]).chain((bounds) =>
    fc.array(counts, { minLength: bounds.length + 1, maxLength: bounds.length + 1 })
      .map((counts) => ({ bounds, counts }))
  ),
);

function inBuckets(buckets: Buckets): number {
  const counts = "bins" in buckets ? [...buckets.bins.values()] : buckets.counts;
  return counts.reduce((total, times) => total + times, 0);
}

function histograms(identity: Pick<HistogramSeries, "name" | "tags" | "updated_ns">) {
  return fc.record({
    count: counts,
    sum: sums,
    min: fc.option(written),
    max: fc.option(written),
    buckets,
  }).map((stats): Series => ({
    ...identity,
    type: "histogram",
    ...stats,
    count: stats.buckets ? inBuckets(stats.buckets) : stats.count,
  }));
}

const series: fc.Arbitrary<Series> = fc.record({ name: names, tags, updated_ns: instants })
  .chain((identity) =>
    fc.oneof<fc.Arbitrary<Series>[]>(
      written.map((value) => ({ ...identity, type: "gauge", value: quantity(value) })),
      increases.map((total) => ({ ...identity, type: "counter", total })),
      histograms(identity),
      fc.array(
        fc.tuple(
          fc.oneof(names, fc.string({ minLength: 1 })),
          fc.record({ value: sums, samples: counts }, { noNullPrototype: true }),
        ),
        { maxLength: 4 },
      ).map((frames) => ({ ...identity, type: "profile", frames: new Map(frames) })),
    )
  );

/** Warnings and errors, with instants that are often the same. */
export const errors: fc.Arbitrary<ErrorEntry> = fc.record({
  level: fc.constantFrom("warning", "error"),
  message: fc.string({ unit: "binary" }),
  exception: fc.string(),
  log_ns: fc.oneof(instants, fc.bigInt(0n, 5n)),
  tags,
}, { requiredKeys: ["level", "message", "exception", "log_ns"], noNullPrototype: true });

const seconds = fc.nat();

/** Resources of few identities. */
export const resources: fc.Arbitrary<Resource> = fc.record({
  kind: fc.constantFrom("host", "process"),
  tags,
  attributes: tags,
  first_seen_ts: seconds,
  last_seen_ts: seconds,
}, { noNullPrototype: true });

/** Windows of `(from_ns, to_ns]` with any valid content. */
export function windows(from_ns: bigint, to_ns: bigint): fc.Arbitrary<Window> {
  return fc.record({
    series: fc.array(series, { maxLength: 6 }),
    resources: fc.array(resources, { maxLength: 3 }),
    errors: fc.array(errors, { maxLength: 4 }),
  }).map(({ series, resources, errors }) => ({
    from_ns,
    to_ns,
    series: new Map(series.map((entry) => [seriesKey(entry), entry])),
    resources: new Map(resources.map((entry) => [resourceKey(entry), entry])),
    errors: errors.sort((a, b) => Number(a.log_ns - b.log_ns)),
  }));
}

/** Uploads with any valid content. */
export const uploads: fc.Arbitrary<Upload> = fc.uniqueArray(instants, {
  minLength: 2,
  maxLength: 2,
})
  .map((pair) => pair.sort((a, b) => a < b ? -1 : 1))
  // They are a second apart at least: uploads in JSON are of whole seconds.
  .filter(([from_ns, to_ns]) => wholeSecond(from_ns!) < to_ns!)
  .chain(([from_ns, to_ns]) =>
    fc.record({
      instance_id: fc.stringMatching(/^[0-9a-f]{12}$/),
      profiler_version: fc.string({ minLength: 1 }),
      start_ns: fc.bigInt(0n, from_ns!),
      tags,
      attributes: tags,
      final: fc.boolean(),
      window: windows(from_ns!, to_ns!),
    }, { noNullPrototype: true })
  );
