/** The comparison of two checkouts pairs their rows. */

import assert from "node:assert/strict";
import { pairRows } from "./compare.ts";
import type { Row } from "./row.ts";

const row = (what: string, unit = "ms"): Row => ({ what, unit, figure: 1 });
const labels = (before: Row[], after: Row[]) => {
  const { pairs, leftOut } = pairRows(before, after);
  return { pairs: pairs.map((pair) => `${pair.before.what} ${pair.after.what}`), leftOut };
};

Deno.test("pairRows() pairs rows by label, in any order", () => {
  const result = labels([row("a"), row("b")], [row("b"), row("a")]);
  assert.deepEqual(result, { pairs: ["b b", "a a"], leftOut: [] });
});

Deno.test("pairRows() pairs a new label with a label that is gone, at the same index", () => {
  const result = labels([row("old"), row("b")], [row("new"), row("b")]);
  assert.deepEqual(result, { pairs: ["old new", "b b"], leftOut: [] });
});

Deno.test("pairRows() leaves out rows that one checkout lacks", () => {
  const result = labels([row("a"), row("b"), row("old")], [row("a"), row("new"), row("b")]);
  assert.deepEqual(result, { pairs: ["a a", "b b"], leftOut: ["old", "new"] });
});

Deno.test("pairRows() leaves out rows with different units", () => {
  const result = labels([row("old", "ms"), row("b")], [row("new", "1/s"), row("b")]);
  assert.deepEqual(result, { pairs: ["b b"], leftOut: ["old", "new"] });
});
