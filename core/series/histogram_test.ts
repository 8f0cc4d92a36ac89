/** Merging of histograms: empty ones, missing ranges and buckets, quantiles between min and max. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { binIndex, type Bins, count } from "../bins.ts";
import { scaled } from "../testdata/arbitrary.ts";
import { emptyWindow, merge, type Window } from "../window.ts";
import { histogram, type HistogramSeries } from "./histogram.ts";
import { type Series, seriesKey } from "./mod.ts";

const pair: HistogramSeries = {
  name: "h",
  type: "histogram",
  tags: {},
  updated_ns: 1n,
  count: 2,
  sum: 3,
  min: 1,
  max: 2,
  buckets: { bins: new Map([[binIndex(1), 1], [binIndex(2), 1]]) },
};

function merged(a: HistogramSeries, b: HistogramSeries): HistogramSeries {
  const key = seriesKey(a);
  const windowOf = (from_ns: bigint, series: Series): Window => ({
    ...emptyWindow(from_ns),
    to_ns: from_ns + 1n,
    series: new Map([[key, series]]),
  });
  return merge(windowOf(0n, a), windowOf(1n, b)).series.get(key) as HistogramSeries;
}

Deno.test("an empty histogram leaves min, max and buckets unchanged", () => {
  const nothing = { ...pair, count: 0, sum: 0, min: null, max: null, buckets: null };
  assert.deepEqual(merged(pair, nothing), pair);
  assert.deepEqual(merged(nothing, pair), pair);
  assert.deepEqual(merged(nothing, nothing), nothing);
});

Deno.test("min, max or buckets that one side lacks are null after merging", () => {
  const summary = { ...pair, min: null, max: null, buckets: null };
  const both = { ...summary, count: 4, sum: 6 };
  assert.deepEqual(merged(pair, summary), both);
  assert.deepEqual(merged(summary, pair), both);
  const foreign = { ...summary, buckets: { bounds: [1], counts: [1, 1] } };
  assert.deepEqual(merged(pair, foreign), both);
  assert.deepEqual(merged(foreign, foreign), {
    ...both,
    buckets: { bounds: [1], counts: [2, 2] },
  });
});

Deno.test("quantiles lie between min and max", () => {
  fc.assert(fc.property(fc.array(scaled, { minLength: 1, maxLength: 60 }), (values) => {
    const [min, max] = [Math.min(...values), Math.max(...values)];
    const bins: Bins = new Map();
    for (const value of values) count(bins, binIndex(value));
    const series = { ...pair, count: values.length, min, max, buckets: { bins } };
    const { p50, p95 } = histogram.stats(series);
    assert.ok(min <= p50! && p50! <= p95! && p95! <= max);
  }));
});
