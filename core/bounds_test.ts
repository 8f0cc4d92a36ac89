/** Buckets with given bounds: Prometheus's quantiles, addition, subtraction. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { addBounds, type Bounds, boundsQuantile, subtractBounds } from "./bounds.ts";
import { fractions } from "./testdata/arbitrary.ts";

const ALL_BOUNDS = [-10, -0.2, -0.1, 0, 0.1, 0.2, 0.3, 1, 2.5, 1e6];

const buckets: fc.Arbitrary<Bounds> = fc.subarray(ALL_BOUNDS).chain((bounds) =>
  fc.array(fc.nat({ max: 20 }), { minLength: bounds.length + 1, maxLength: bounds.length + 1 })
    .map((counts) => ({ bounds, counts }))
);

/** Prometheus's definition, over cumulative buckets that end with +Inf. */
function histogramQuantile(q: number, { bounds, counts }: Bounds): number | null {
  const uppers = [...bounds, Infinity];
  const cumulative = counts.map((_, i) => counts.slice(0, i + 1).reduce((a, b) => a + b, 0));
  const all = cumulative.at(-1)!;
  if (all === 0 || uppers.length < 2) return null;
  const rank = q * all;
  const bucket = cumulative.findIndex((count) => count >= rank);
  if (bucket === uppers.length - 1) return uppers[bucket - 1]!;
  if (bucket === 0 && uppers[0]! <= 0) return uppers[0]!;
  const start = bucket === 0 ? 0 : uppers[bucket - 1]!;
  const before = bucket === 0 ? 0 : cumulative[bucket - 1]!;
  const inside = cumulative[bucket]! - before;
  // Prometheus divides zero by zero here and answers NaN.
  if (inside === 0) return start;
  const answer = start + (uppers[bucket]! - start) * ((rank - before) / inside);
  // In Prometheus, rounding can exceed the bound.
  return Math.min(uppers[bucket]!, answer);
}

Deno.test("a quantile is what PromQL's histogram_quantile gives", () => {
  fc.assert(fc.property(buckets, fractions, (given, q) => {
    assert.equal(boundsQuantile(given, q), histogramQuantile(q, given));
  }));
});

// From Prometheus's promql/promqltest/testdata/histograms.test, there as cumulative counts.
const positive = { bounds: [0.1, 0.2, 1], counts: [50, 20, 40, 10] };
const negative = { bounds: [-0.2, -0.1, 0.3], counts: [10, 10, 0, 10] };
const known: [q: number, positive: number, negative: number][] = [
  [0, 0, -0.2],
  [0.2, 0.048, -0.2],
  [0.5, 0.15, -0.15],
  [0.8, 0.72, 0.3],
  [1, 1, 0.3],
];

Deno.test("quantiles are those of Prometheus's test cases", () => {
  for (const [q, ofPositive, ofNegative] of known) {
    assert.ok(Math.abs(boundsQuantile(positive, q)! - ofPositive) < 1e-12, `positive, ${q}`);
    assert.ok(Math.abs(boundsQuantile(negative, q)! - ofNegative) < 1e-12, `negative, ${q}`);
  }
});

Deno.test("a quantile never decreases with q", () => {
  fc.assert(fc.property(buckets, fractions, fractions, (given, one, other) => {
    const [low, high] = [Math.min(one, other), Math.max(one, other)];
    assert.ok((boundsQuantile(given, low) ?? 0) <= (boundsQuantile(given, high) ?? 0));
  }));
});

Deno.test("rounding moves no quantile out of its bucket", () => {
  const given = { bounds: [-10, -0.2], counts: [1, 19, 20] };
  assert.equal(boundsQuantile(given, 0.5), -0.2);
  assert.equal(boundsQuantile(given, 0.95), -0.2);
});

Deno.test("the quantile without values or without bounds is null", () => {
  assert.equal(boundsQuantile({ bounds: [1], counts: [0, 0] }, 0.5), null);
  assert.equal(boundsQuantile({ bounds: [], counts: [3] }, 0.5), null);
  assert.equal(boundsQuantile({ bounds: [1, 2], counts: [0, 0, 3] }, 0.5), 2);
  for (const q of [-0.1, 1.1, NaN]) {
    assert.throws(() => boundsQuantile({ bounds: [], counts: [] }, q), RangeError);
  }
});

Deno.test("adding keeps the bounds that both have, and every count below the same bounds", () => {
  const below = ({ bounds, counts }: Bounds, bound: number) =>
    counts.reduce((sum, times, i) => (bounds[i] ?? Infinity) <= bound ? sum + times : sum, 0);
  fc.assert(fc.property(buckets, buckets, (a, b) => {
    const both = addBounds(a, b);
    assert.deepEqual(
      both.bounds,
      ALL_BOUNDS.filter((x) => [a, b].every((y) => y.bounds.includes(x))),
    );
    assert.equal(both.counts.length, both.bounds.length + 1);
    for (const bound of [...both.bounds, Infinity]) {
      assert.equal(below(both, bound), below(a, bound) + below(b, bound));
    }
  }));
});

Deno.test("subtraction reverses addition, in the bounds that both have", () => {
  fc.assert(fc.property(buckets, buckets, (a, b) => {
    const both = addBounds(a, b);
    const left = subtractBounds(both, b);
    assert.deepEqual(left.bounds, both.bounds);
    assert.deepEqual(addBounds(left, b), both);
  }));
});

Deno.test("adding is associative", () => {
  fc.assert(fc.property(buckets, buckets, buckets, (a, b, c) => {
    assert.deepEqual(addBounds(addBounds(a, b), c), addBounds(a, addBounds(b, c)));
  }));
});
