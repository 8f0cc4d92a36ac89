import assert from "node:assert/strict";
import { onlyKnown, readSelection, ShapeError, single } from "./mod.ts";

const read = (query: string) => readSelection(new URLSearchParams(query));

Deno.test("a selection is read as the query gives it", () => {
  assert.deepEqual(read(""), {});
  assert.deepEqual(read("metrics=a_bytes"), { metrics: ["a_bytes"] });
  assert.deepEqual(read("metrics=gpu_*, host_load&top=5"), {
    metrics: ["gpu_*", "host_load"],
    top: 5,
  });
});

Deno.test("a selection that cannot be meant is refused with the parameter's name", () => {
  const cases: [query: string, path: string][] = [
    ["metrics=", "metrics"],
    ["metrics=a,,b", "metrics"],
    ["metrics=a&metrics=b", "metrics"],
    ["top=", "top"],
    ["top=0", "top"],
    ["top=-1", "top"],
    ["top=1.5", "top"],
    ["top=1e3", "top"],
    ["top=all", "top"],
    ["top=1&top=2", "top"],
  ];
  for (const [query, path] of cases) {
    assert.throws(() => read(query), (error) => error instanceof ShapeError && error.path === path);
  }
});

Deno.test("a parameter has one value or none", () => {
  assert.equal(single(new URLSearchParams("a=1"), "a"), "1");
  assert.equal(single(new URLSearchParams("a="), "a"), "");
  assert.equal(single(new URLSearchParams("b=1"), "a"), undefined);
  assert.throws(() => single(new URLSearchParams("a=1&a=1"), "a"), ShapeError);
});

Deno.test("a parameter that is not known is refused, not ignored", () => {
  onlyKnown(new URLSearchParams("top=1"), ["metrics", "top"]);
  assert.throws(() => onlyKnown(new URLSearchParams("tpo=1"), ["metrics", "top"]), {
    message: "Cannot accept tpo: is not a parameter here: known are metrics, top",
  });
  assert.throws(() => onlyKnown(new URLSearchParams("x"), []), /this path takes none/);
});
