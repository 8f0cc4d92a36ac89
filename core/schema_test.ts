/** Checks of values: errors with path, rule and value, and what a checked value keeps. */

import assert from "node:assert/strict";
import {
  flag,
  integer,
  list,
  nanoseconds,
  nullable,
  number,
  object,
  oneOf,
  quantityUpTo,
  type Shape,
  tagsOf,
  text,
  variants,
} from "./schema.ts";
import { ShapeError } from "./schema_error.ts";

const point = object<{ x: number; label?: string }>({ x: integer(0, 9), label: text() }, ["label"]);
const tags = tagsOf(text({ min: 1, max: 3 }), text({ max: 5 }), 2);
const shape = variants<{ kind: string }>("kind", {
  dot: object<{ kind: "dot" }>({ kind: oneOf("dot") }),
  line: object<{ kind: "line"; to: number }>({ kind: oneOf("line"), to: integer(0) }),
});

Deno.test("an error names the path, the rule and the value", () => {
  const cases: [shape: Shape<unknown>, value: unknown, message: string][] = [
    [text(), 5, "the value: must be a string: got 5"],
    [text({ min: 2 }), "x", "the value: must have at least 2 characters: got 1"],
    [text({ min: 1, max: 2 }), "xyz", "the value: must have 1 to 2 characters: got 3"],
    [text({ pattern: "[a-z]+" }), "a1", 'the value: must match [a-z]+: got "a1"'],
    [text({ pattern: "a|b" }), "ab", 'the value: must match a|b: got "ab"'],
    [oneOf("a", "b"), "c", 'the value: must be one of a, b: got "c"'],
    [flag, 1, "the value: must be true or false: got 1"],
    [number(0, 1), 1.5, "the value: must be a number from 0 to 1: got 1.5"],
    [number(0, 1), NaN, "the value: must be a number from 0 to 1: got NaN"],
    [number(0, 1), "0", 'the value: must be a number from 0 to 1: got "0"'],
    [integer(0, 9), 1.5, "the value: must be a whole number from 0 to 9: got 1.5"],
    [integer(0, 9), -1, "the value: must be a whole number from 0 to 9: got -1"],
    [
      nanoseconds,
      5,
      "the value: must be whole epoch nanoseconds from 0 to 9223372036854775807: got 5",
    ],
    [nullable(flag), undefined, "the value: must be true or false: got undefined"],
    [list(flag), {}, "the value: must be an array: got an object"],
    [list(flag, { min: 1 }), [], "the value: must have at least 1 items: got 0"],
    [list(flag, { max: 1 }), [true, true], "the value: must have 0 to 1 items: got 2"],
    [list(flag), [true, null], "[1]: must be true or false: got null"],
    [tags, [], "the value: must be an object: got an array"],
    [tags, { a: "1", b: "2", c: "3" }, "the value: must have at most 2 entries: got 3"],
    [tags, { long: "1" }, "long (a key): must have 1 to 3 characters: got 4"],
    [tags, { "a b": 1 }, '"a b": must be a string: got 1'],
    [point, {}, "x: is missing"],
    [point, { x: 1, y: 2 }, "y: is not a field known here"],
    [point, { x: 1, label: undefined }, "label: must be a string: got undefined"],
    [point, { x: 1, toString: 2 }, "toString: is not a field known here"],
    [list(point), [{ x: 1 }, { x: "1" }], '[1].x: must be a whole number from 0 to 9: got "1"'],
    [shape, {}, "kind: must be one of dot, line: got undefined"],
    [shape, { kind: "__proto__" }, 'kind: must be one of dot, line: got "__proto__"'],
    [shape, { kind: "dot", to: 1 }, "to: is not a field known here"],
  ];
  for (const [shape, value, message] of cases) {
    assert.throws(() => shape.check(value), {
      name: "ShapeError",
      message: `Cannot accept ${message}`,
    });
  }
});

Deno.test("an error has its path and its fault", () => {
  assert.throws(
    () => object<{ points: unknown[] }>({ points: list(point) }).check({ points: [{ x: 10 }] }),
    (error) => {
      assert.ok(error instanceof ShapeError && error instanceof TypeError);
      assert.equal(error.path, "points[0].x");
      assert.equal(error.fault, "must be a whole number from 0 to 9: got 10");
      return true;
    },
  );
});

Deno.test("an error stays short, however long the value is", () => {
  const long = "x".repeat(1e6);
  const cases: [shape: Shape<unknown>, value: unknown][] = [
    [flag, long],
    [integer(0), BigInt("9".repeat(10_000))],
    [point, { [long]: 1 }],
    [tags, { [long]: "1" }],
  ];
  for (const [shape, value] of cases) {
    assert.throws(() => shape.check(value), (error: Error) => error.message.length < 250);
  }
});

Deno.test("characters are code points", () => {
  const pair = text({ min: 2, max: 2 });
  for (const two of ["ab", "😀😀", "a\ud800"]) assert.equal(pair.check(two), two);
  for (const other of ["a", "😀", "😀😀😀", ""]) assert.throws(() => pair.check(other), ShapeError);
});

Deno.test("a quantity keeps every digit of an integer", () => {
  const shape = quantityUpTo(1e300);
  assert.equal(shape.check(2n ** 60n + 1n), 2n ** 60n + 1n);
  assert.equal(shape.check(0.5), 0.5);
  assert.throws(() => shape.check(10n ** 301n), ShapeError);
  assert.equal(number(0, 1e20).check(2n ** 60n), 2 ** 60);
});

Deno.test("an object that passes has its known fields only, as its own", () => {
  const checked = point.check({ x: 1 });
  assert.deepEqual(Object.entries(checked), [["x", 1]]);
  assert.equal(nullable(point).check(null), null);
  assert.deepEqual(shape.check({ kind: "line", to: 1 }), { kind: "line", to: 1 });
});

Deno.test("an integer is never -0", () => {
  const counts = object<{ n: number; all: number[] }>({ n: integer(0), all: list(integer(0)) });
  assert.deepEqual(counts.check({ n: -0, all: [-0, 1] }), { n: 0, all: [0, 1] });
});
