/** Locations of quantiles: always true of the values, and as near as buckets and mean allow. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { binIndex, type Bins, count } from "../bins.ts";
import { addSums, type Sum } from "../sum.ts";
import type { HistogramSeries } from "./histogram.ts";
import { histogram } from "./histogram.ts";
import { locateQuantile } from "./quantile_location.ts";

const identity = { name: "seconds", type: "histogram" as const, tags: {}, updated_ns: 1n };

/** A histogram of a Prometheus source, with these bounds. */
function counted(values: readonly number[], bounds: readonly number[]): HistogramSeries {
  const counts = new Array<number>(bounds.length + 1).fill(0);
  for (const value of values) {
    const bucket = bounds.findIndex((bound) => value <= bound);
    counts[bucket < 0 ? bounds.length : bucket]!++;
  }
  const sum = values.reduce<Sum>(addSums, 0);
  const buckets = { bounds, counts };
  return { ...identity, count: values.length, sum, min: null, max: null, buckets };
}

/** A native histogram. */
function binned(values: readonly number[]): HistogramSeries {
  const bins: Bins = new Map();
  for (const value of values) count(bins, binIndex(value));
  const sum = values.reduce<Sum>(addSums, 0);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  return { ...identity, count: values.length, sum, min, max, buckets: { bins } };
}

Deno.test("a quantile in a first bucket, a wide one or the last one is told by a bound", () => {
  const fast = counted(new Array(100).fill(0.005), [0.3, 1]);
  assert.equal(histogram.stats(fast).p50, 0.15);
  assert.deepEqual(locateQuantile(fast, 0.5), { below: 0.01 });
  assert.deepEqual(locateQuantile(fast, 0.75), { below: 0.02 });
  assert.deepEqual(locateQuantile(counted([0.2, 0.25, 0.3, 4], [0.3, 1]), 0.5), { below: 0.3 });

  const wide = counted([...new Array(40).fill(0.001), ...new Array(60).fill(0.002)], [0.001, 10]);
  assert.ok(histogram.stats(wide).p50! > 1);
  const located = locateQuantile(wide, 0.5);
  assert.ok(located && "below" in located && Math.abs(located.below - 0.0032) < 1e-12);

  const slow = counted([1, 200, 300], [0.1, 10]);
  assert.equal(histogram.stats(slow).p95, 10);
  assert.deepEqual(locateQuantile(slow, 0.95), { above: 10 });

  const ordinary = counted([1, 2, 3, 4, 5, 6], [1, 2, 4, 8]);
  assert.deepEqual(locateQuantile(ordinary, 0.5), { near: histogram.stats(ordinary).p50 });
  assert.deepEqual(locateQuantile(counted([-5, -5, 1], [0, 2]), 0.5), { below: 0 });
  assert.deepEqual(locateQuantile(counted([0, 0, 0], [0.1]), 0.95), { near: 0 });
  assert.deepEqual(locateQuantile(binned([-10, 3, 7]), 0.95), { near: 7 });
});

Deno.test("without buckets or values a quantile lies nowhere", () => {
  assert.equal(locateQuantile({ ...counted([1], [1]), buckets: null }, 0.5), null);
  assert.equal(locateQuantile(counted([], [1]), 0.5), null);
  assert.equal(locateQuantile(counted([1], []), 0.5), null);
  assert.throws(() => locateQuantile(counted([1], [1]), 2), RangeError);
});

const someValues = fc.array(fc.oneof(fc.nat(5), fc.double({ min: -5, max: 50, noNaN: true })), {
  minLength: 1,
  maxLength: 60,
});
const someBounds = fc.uniqueArray(fc.integer({ min: -6, max: 60 }), { minLength: 1, maxLength: 6 })
  .map((bounds) => bounds.sort((a, b) => a - b));
const someQ = fc.constantFrom(0, 0.1, 0.5, 0.9, 0.95, 0.99, 1);

Deno.test("what is told of a quantile is true of the values", () => {
  fc.assert(fc.property(someValues, someBounds, someQ, (given, bounds, q) => {
    // A first bucket with a bound above 0 is one of values that are not negative, as in PromQL.
    const values = bounds[0]! > 0 ? given.map(Math.abs) : given;
    const sorted = values.toSorted((a, b) => a - b);
    const actual = sorted[Math.max(1, Math.ceil(q * sorted.length)) - 1]!;
    const slack = 1e-9;
    for (const series of [counted(values, bounds), binned(values)]) {
      const located = locateQuantile(series, q)!;
      if ("below" in located) assert.ok(actual <= located.below + slack);
      else if ("above" in located) assert.ok(actual > located.above);
      else {
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
        const lower = bounds.findLast((bound) => bound < actual) ?? -Infinity;
        const upper = bounds.find((bound) => bound >= actual) ?? Infinity;
        if (series.min === null) assert.ok(lower <= located.near && located.near <= upper);
        else assert.ok(Math.abs(located.near - actual) <= Math.abs(actual) / 8 + slack);
        const smallest = sorted[0]!;
        const isKnown = series.min !== null || bounds[0]! > 0 ||
          bounds.some((bound) => bound >= 0 && bound < smallest);
        if (isKnown && smallest >= 0) assert.ok(located.near * (1 - q) <= mean + slack);
      }
    }
  }));
});
