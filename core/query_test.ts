/** Query parameters: their values, and a refusal that names every parameter at fault. */

import assert from "node:assert/strict";
import { Refusal } from "./problem.ts";
import {
  duration,
  optional,
  readQuery,
  required,
  seconds,
  selectionParameters,
  step,
} from "./query.ts";

const parameters = {
  start: required(seconds, "Where it starts."),
  end: optional(seconds, "Where it ends."),
  ...selectionParameters,
};
const read = (query: string) => readQuery(new URLSearchParams(query), parameters);

Deno.test("a query is read parameter by parameter", () => {
  assert.deepEqual(read("start=1.5"), {
    start: 1_500_000_000n,
    end: undefined,
    metrics: undefined,
    top: undefined,
  });
  assert.deepEqual(read("start=0&end=2&metrics=gpu_*, host_load&top=5"), {
    start: 0n,
    end: 2_000_000_000n,
    metrics: ["gpu_*", "host_load"],
    top: 5,
  });
});

Deno.test("an invalid query is refused, with every parameter at fault", () => {
  const cases: [query: string, parameters: string[]][] = [
    ["", ["start"]],
    ["start=", ["start"]],
    ["start=1e3", ["start"]],
    ["start=-1", ["start"]],
    ["start=1&start=1", ["start"]],
    ["start=1&end=x&top=0", ["end", "top"]],
    ["start=1&metrics=a,,b", ["metrics"]],
    ["start=1&top=all", ["top"]],
    ["start=1&top=1.5", ["top"]],
    ["start=1&tpo=1", ["tpo"]],
  ];
  for (const [query, named] of cases) {
    assert.throws(() => read(query), (error) => {
      assert(error instanceof Refusal);
      assert.equal(error.problem.status, 400);
      assert.deepEqual(error.problem.errors.map(({ parameter }) => parameter), named, query);
      return true;
    });
  }
  assert.throws(() => readQuery(new URLSearchParams("x=1"), {}), {
    message: "Cannot read the query: x is not known here: this path takes none",
  });
});

Deno.test("a message says whether an instant or a length of time is wrong", () => {
  const rule = 'seconds from 0 to 9223372036.854775807, with at most nine decimals: got "x"';
  assert.throws(() => seconds.parse("x"), { name: "RangeError", message: `must be epoch ${rule}` });
  for (const format of [duration, step]) {
    assert.throws(() => format.parse("x"), { name: "RangeError", message: `must be ${rule}` });
  }
});
