/** Open shapes: they ignore members, and name each path once, however many values have it, in a bounded list. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { Ignored } from "./ignored.ts";
import { open } from "./open_schema.ts";
import { integer, list, object, type Shape } from "./schema.ts";
import { ShapeError } from "./schema_error.ts";
import "./testdata/arbitrary.ts";

interface Point {
  x: number;
}

const point: Shape<Point> = object<Point>({ x: integer(0) });
const closed = object<{ first: Point; rest: Point[][] }>({ first: point, rest: list(list(point)) });
const shape = open(closed);

const names = fc.constantFrom(...Array.from({ length: 30 }, (_, i) => `m${i}`));
const points = fc.tuple(fc.nat(), fc.uniqueArray(names, { maxLength: 4 }))
  .map(([x, more]) => ({ ...Object.fromEntries(more.map((name) => [name, x])), x }));
const values = fc.record({
  first: points,
  rest: fc.array(fc.array(points, { maxLength: 4 }), { maxLength: 4 }),
});

Deno.test("a value is checked as if it had its known members alone, and the others are named", () => {
  fc.assert(fc.property(values, ({ first, rest }) => {
    const ignored = new Ignored();
    const known = { first: { x: first.x }, rest: rest.map((list) => list.map(({ x }) => ({ x }))) };
    assert.deepEqual(shape.check({ first, rest }, ignored), known);
    assert.deepEqual(shape.check({ first, rest }), known);
    const paths = new Set([
      ...Object.keys(first).map((name) => `first.${name}`),
      ...rest.flat().flatMap(Object.keys).map((name) => `rest[][].${name}`),
    ]);
    paths.delete("first.x");
    paths.delete("rest[][].x");
    if (paths.size <= 20) assert.deepEqual(ignored.paths, [...paths].sort());
    else assert.equal(ignored.paths.length, 20);
    assert.equal(new Set(ignored.paths).size, ignored.paths.length);
  }));
});

Deno.test("a closed shape refuses what the open one ignores", () => {
  const value = { first: { x: 1, y: 2 }, rest: [] };
  assert.throws(
    () => closed.check(value),
    (fault) => fault instanceof ShapeError && fault.path === "first.y",
  );
  assert.deepEqual(shape.check(value), { first: { x: 1 }, rest: [] });
});

Deno.test("paths stay few and short, however many members there are and however long their names", () => {
  const ignored = new Ignored();
  const many = Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => ["x".repeat(500) + i, 1]));
  const rest = [Array.from({ length: 1e4 }, (_, i) => ({ x: 1, [`m${i}`]: 1 }))];
  shape.check({ first: { x: 1 }, rest, ...many }, ignored);
  assert.equal(ignored.paths.length, 20);
  assert.ok(ignored.paths.every((path) => path.length < 100));
});
