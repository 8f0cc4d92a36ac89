/** Tests of numbers in texts: three significant digits, no exponent, units, and bounds of quantiles. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { durations, location, meanOf, number, percent, rangeOf, row, seconds } from "./words.ts";

Deno.test("numbers have three significant digits, whole ones all of theirs, and no exponent", () => {
  const expected: readonly [number, string][] = [
    [0, "0"],
    [1, "1"],
    [12.5, "12.5"],
    [0.30000000000000004, "0.3"],
    [3.14159, "3.14"],
    [99.96, "100"],
    [1234.56, "1235"],
    [8065458, "8065458"],
    [1e15, "1000000000000000"],
    [1.5e-7, "0.00000015"],
    [-0.02345, "-0.0234"],
  ];
  for (const [value, text] of expected) assert.equal(number(value), text);
});

Deno.test("a number in a text is the number within its third digit", () => {
  const values = fc.double({ min: 1e-9, max: 1e15, noNaN: true });
  fc.assert(fc.property(values, fc.boolean(), (size, isNegative) => {
    const value = isNegative ? -size : size;
    const text = number(value);
    assert.match(text, /^-?\d+(?:\.\d*[1-9])?$/);
    assert.ok(Math.abs(Number(text) - value) <= 0.0051 * size, `${text} for ${value}`);
  }));
});

Deno.test("what was not measured is a dash, and zero is zero", () => {
  for (const text of [number(null), number(undefined), number(NaN), number(Infinity)]) {
    assert.equal(text, "-");
  }
  assert.deepEqual([percent(null), meanOf(null), rangeOf(null), seconds(null), location(null)], [
    "-",
    "-",
    "-",
    "-",
    "-",
  ]);
  assert.deepEqual([percent(0), seconds(0), number(0)], ["0", "0 s", "0"]);
});

Deno.test("times have the unit that fits, and quantiles of first and last buckets their bound", () => {
  assert.deepEqual([1.89e-6, 0.0125, 0.9996, 39.06].map(seconds), [
    "1.89 µs",
    "12.5 ms",
    "1000 ms",
    "39.1 s",
  ]);
  const one = { count: 9, mean_seconds: 0.12, p50: { below: 0.3 }, p95: { above: 60 } };
  assert.equal(durations(one), "mean 120 ms, p50 below 300 ms, p95 above 60 s");
  assert.equal(location({ near: 13.3 }), "about 13.3 s");
});

Deno.test("a level tells its extremes where they differ", () => {
  assert.equal(rangeOf({ mean: 0.125, min: 0.03, max: 0.4, last: 0.1 }, 100), "12.5 (3 to 40)");
  assert.equal(rangeOf({ mean: 62, min: 62, max: 62, last: 62 }), "62");
});

Deno.test("cells of a row have no bars and line breaks", () => {
  assert.equal(row("a|b", 1, "c\nd"), "a/b | 1 | c/d");
});
