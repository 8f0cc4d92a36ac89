/** Exact sums: addition without rounding in any order, one form for each sum. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { addSums, difference, exact, isSum, quantity, rounded, type Sum } from "./sum.ts";
import { doubles, sums } from "./testdata/arbitrary.ts";

/** The double as a whole multiple of 2^-1074, which every double is. */
function units(value: number): bigint {
  const bits = new BigUint64Array(new Float64Array([Math.abs(value)]).buffer)[0]!;
  const exponent = bits >> 52n;
  const fraction = bits & (2n ** 52n - 1n);
  const size = exponent === 0n ? fraction : (fraction | 2n ** 52n) << (exponent - 1n);
  return value < 0 ? -size : size;
}

function total(sum: Sum): bigint {
  return [sum].flat().reduce((all, part) => all + units(part as number), 0n);
}

const add = (values: readonly number[]) => values.reduce<Sum>(addSums, 0);
const lists = fc.array(doubles, { maxLength: 12 });

Deno.test("addition is exact", () => {
  fc.assert(fc.property(lists, (values) => {
    assert.equal(total(add(values)), values.reduce((all, value) => all + units(value), 0n));
  }));
});

Deno.test("adding is associative and has an identity", () => {
  fc.assert(fc.property(sums, sums, sums, (a, b, c) => {
    assert.deepEqual(addSums(addSums(a, b), c), addSums(a, addSums(b, c)));
    assert.deepEqual(addSums(a, 0), a);
    assert.deepEqual(addSums(0, a), a);
  }));
});

Deno.test("equal sums have equal forms, whatever the order", () => {
  fc.assert(fc.property(lists, fc.infiniteStream(fc.nat()), (values, random) => {
    const shuffled = values
      .map((value) => ({ value, at: random.next().value as number }))
      .sort((a, b) => a.at - b.at)
      .map(({ value }) => value);
    assert.deepEqual(add(values), add(shuffled));
    assert.deepEqual(add([...values, ...values.map((value) => -value)]), 0);
  }));
});

Deno.test("each part is the double nearest to the remainder", () => {
  const distance = (a: bigint, b: bigint) => a < b ? b - a : a - b;
  fc.assert(fc.property(sums, (sum) => {
    const parts = [sum].flat() as number[];
    let left = total(sum);
    for (const part of parts) {
      const half = units(ulp(part)); // twice half an ulp, so that it stays an integer
      assert.ok(2n * distance(left, units(part)) <= half);
      left -= units(part);
    }
    assert.ok(parts.length === 1 || !parts.includes(0));
  }));
});

function ulp(value: number): number {
  const bits = new BigUint64Array(new Float64Array([Math.abs(value)]).buffer);
  bits[0]! += 1n;
  return new Float64Array(bits.buffer)[0]! - Math.abs(value);
}

Deno.test("a sum of integers is exact to the digit, also above 2^53", () => {
  fc.assert(fc.property(fc.array(fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n })), (integers) => {
    const sum = integers.map(exact).reduce(addSums, 0);
    assert.equal(BigInt(quantity(sum)), integers.reduce((a, b) => a + b, 0n));
  }));
});

Deno.test("a quantity has every digit of an integer, or is the nearest double", () => {
  const cases: [sum: Sum, quantity: number | bigint][] = [
    [0, 0],
    [1.5, 1.5],
    [2 ** 53 - 1, 2 ** 53 - 1],
    [2 ** 53, 2n ** 53n],
    [addSums(2 ** 53, 1), 2n ** 53n + 1n],
    [2 ** 60, 2n ** 60n],
    [addSums(2 ** 60, -1), 2n ** 60n - 1n],
    [addSums(0.1, 0.2), 0.30000000000000004],
    [addSums(2 ** 60, 0.5), 2 ** 60],
    [addSums(1, 5e-324), 1],
  ];
  for (const [sum, expected] of cases) assert.equal(quantity(sum), expected);
});

Deno.test("a quantity's sum is exact", () => {
  fc.assert(fc.property(fc.bigInt({ min: -(2n ** 900n), max: 2n ** 900n }), (integer) => {
    assert.equal(BigInt(quantity(exact(integer))), integer);
    assert.ok(isSum(exact(integer)));
  }));
  assert.equal(exact(-0), 0);
  assert.equal(exact(0n), 0);
});

Deno.test("a difference is the exact increase", () => {
  fc.assert(fc.property(doubles, doubles, (before, after) => {
    assert.equal(total(difference(after, before)), units(after) - units(before));
    assert.equal(rounded(difference(after, before)), after - before + 0);
  }));
});

Deno.test("only the canonical form is a sum", () => {
  fc.assert(fc.property(sums, (sum) => assert.ok(isSum(sum))));
  const others = [
    "1",
    null,
    NaN,
    Infinity,
    [],
    [1],
    [1, 2],
    [1, 0],
    [1e-20, 1],
    [1, 1e-20, 1e-30],
    [1, NaN],
    [1, "x"],
    [Number.MAX_VALUE, Number.MAX_VALUE],
    [Number.MAX_VALUE, 2 ** 970],
    new Array(1e6).fill(1e300),
  ];
  for (const value of others) assert.ok(!isSum(value), String(value).slice(0, 40));
});

Deno.test("a sum beyond the range of a double is refused", () => {
  assert.throws(() => addSums(Number.MAX_VALUE, Number.MAX_VALUE), RangeError);
  assert.throws(() => addSums(Number.MAX_VALUE, 2 ** 970), RangeError);
  assert.throws(() => addSums(NaN, 1), RangeError);
  assert.throws(() => difference(Infinity, Infinity), RangeError);
});
