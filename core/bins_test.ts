/** Histogram bins: index and value, merging, quantiles within 12.5 % of the exact ones. */

import assert from "node:assert/strict";
import fc from "fast-check";
import {
  binIndex,
  binQuantile,
  type Bins,
  binValue,
  count,
  FIRST_BIN,
  isBinIndex,
  LAST_BIN,
} from "./bins.ts";
import { quantile, type Series, seriesKey } from "./series/mod.ts";
import { emptyWindow, merge } from "./window.ts";
import { fractions, scaled } from "./testdata/arbitrary.ts";

const WIDTH = 0.125;

const data = fc.array(scaled, { minLength: 1, maxLength: 60 });

function binsOf(values: readonly number[]): Bins {
  const bins: Bins = new Map();
  for (const value of values) count(bins, binIndex(value));
  return bins;
}

function nearestRank(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(q * sorted.length)) - 1]!;
}

Deno.test("a quantile is within the bin's width of the exact one, at any scale", () => {
  fc.assert(fc.property(data, fractions, (values, q) => {
    const exact = nearestRank(values, q);
    const answer = binQuantile(binsOf(values), q)!;
    assert.ok(
      Math.abs(answer - exact) <= WIDTH * Math.abs(exact),
      `${answer} is too far from ${exact}`,
    );
  }));
});

Deno.test("a quantile never decreases with q", () => {
  fc.assert(fc.property(data, fractions, fractions, (values, one, other) => {
    const bins = binsOf(values);
    const [low, high] = one < other ? [one, other] : [other, one];
    assert.ok(binQuantile(bins, low)! <= binQuantile(bins, high)!);
  }));
});

Deno.test("bins of merged windows are the bins of all values together", () => {
  const windowOf = (from_ns: bigint, values: readonly number[]) => {
    const series: Series = {
      name: "h",
      type: "histogram",
      tags: {},
      updated_ns: 0n,
      count: values.length,
      sum: 0,
      min: null,
      max: null,
      buckets: { bins: binsOf(values) },
    };
    return {
      ...emptyWindow(from_ns),
      to_ns: from_ns + 1n,
      series: new Map([[seriesKey(series), series]]),
    };
  };
  fc.assert(fc.property(data, data, (some, others) => {
    assert.deepEqual(
      merge(windowOf(0n, some), windowOf(1n, others)).series,
      windowOf(0n, [...some, ...others]).series,
    );
  }));
});

Deno.test("the order of indexes is the order of values", () => {
  fc.assert(fc.property(scaled, scaled, (a, b) => {
    assert.ok(a <= b ? binIndex(a) <= binIndex(b) : binIndex(a) >= binIndex(b));
  }));
});

Deno.test("the value of every bin is in that bin", () => {
  for (let index = FIRST_BIN; index <= LAST_BIN; index++) {
    assert.equal(binIndex(binValue(index)), index);
    assert.equal(binIndex(binValue(-index)), -index);
  }
  assert.equal(binValue(0), 0);
});

Deno.test("an octave has eight bins, and zero has its own bin", () => {
  const cases: [value: number, index: number][] = [
    [0, 0],
    [-0, 0],
    [5e-324, 0],
    [2 ** -1022, FIRST_BIN],
    [-(2 ** -1022), -FIRST_BIN],
    [1, 1023 * 8],
    [1.1249, 1023 * 8],
    [1.125, 1023 * 8 + 1],
    [1.9999, 1023 * 8 + 7],
    [2, 1024 * 8],
    [-2, -1024 * 8],
    [Number.MAX_VALUE, LAST_BIN],
  ];
  for (const [value, index] of cases) assert.equal(binIndex(value), index, `of ${value}`);
});

Deno.test("isBinIndex() accepts only indexes that binIndex() returns", () => {
  for (const index of [0, FIRST_BIN, -FIRST_BIN, LAST_BIN, -LAST_BIN]) assert.ok(isBinIndex(index));
  for (const index of [1, -7, FIRST_BIN - 1, LAST_BIN + 1, 8184.5, NaN, Infinity]) {
    assert.ok(!isBinIndex(index), `${index}`);
  }
});

Deno.test("a value that is not finite has no bin", () => {
  for (const value of [NaN, Infinity, -Infinity]) assert.throws(() => binIndex(value), RangeError);
});

Deno.test("the quantile of no values is null, and q must be in [0, 1]", () => {
  assert.equal(binQuantile(new Map(), 0.5), null);
  assert.equal(binQuantile(new Map([[0, 0]]), 0.5), null);
  assert.equal(quantile({ buckets: null, min: 1, max: 1 }, 0.5), null);
  for (const q of [-0.1, 1.1, NaN]) assert.throws(() => binQuantile(new Map(), q), RangeError);
});
