/** The catalogue: one entry for each metric, a name that ends in its unit, whole sentences. */

import assert from "node:assert/strict";
import { catalogue, describe } from "./mod.ts";

Deno.test("every metric has one entry, found by its name", () => {
  for (const entry of catalogue) assert.equal(describe(entry.name), entry);
  assert.equal(new Set(catalogue.map(({ name }) => name)).size, catalogue.length);
  assert.equal(describe("no_such_metric"), undefined);
});

/** Counters of devices have the names that other tools give them. */
const NO_TOTAL = /^gpu_(pcie_replay_counter|xid_critical_errors|(nvlink|ecc)_errors_[a-z_]+)$/;

Deno.test("names are snake_case and end in the unit, and plain counts in total", () => {
  for (const { name, type, unit } of catalogue) {
    assert.match(name, /^[a-z]+(_[a-z]+\d*)+$/);
    const measured = name.replace(/_distribution$/, "");
    if (unit !== null) assert.ok(measured.endsWith(`_${unit}`), name);
    else if (type === "counter" && !NO_TOTAL.test(name)) assert.match(name, /_total$/);
  }
});

Deno.test("a distribution is of a gauge, with its unit and its tags", () => {
  const distributions = catalogue.filter(({ name }) => name.endsWith("_distribution"));
  assert.ok(distributions.length > 0);
  for (const { name, type, unit, tags } of distributions) {
    const gauge = describe(name.replace(/_distribution$/, ""));
    assert.equal(type, "histogram");
    assert.deepEqual([gauge?.type, gauge?.unit, gauge?.tags], ["gauge", unit, tags], name);
  }
});

Deno.test("every entry says in whole sentences what it is, how to read it and what to do", () => {
  for (const { name, meaning, read, act } of catalogue) {
    for (const text of [meaning, read, act]) {
      assert.match(text, /^[A-Z0-9a-z].*[.)]$/, `${name}: ${text}`);
      assert.doesNotMatch(text, / {2}|\n/, `${name}: ${text}`);
    }
  }
});

Deno.test("tags that identify series are named once each", () => {
  for (const { name, tags } of catalogue) assert.equal(new Set(tags).size, tags.length, name);
});

Deno.test("every metric that the interface names is explained", () => {
  const types = Object.fromEntries(catalogue.map(({ name, type }) => [name, type]));
  assert.equal(types.cuda_graph_trace_mode, "gauge");
  assert.equal(types.cuda_kernels_nanoseconds, "profile");
  assert.equal(types.cuda_graphs_nanoseconds, "profile");
  assert.equal(types.rocm_kernels_nanoseconds, "profile");
  assert.equal(types.gpu_utilization_percent, "gauge");
  assert.equal(types.cuda_memcpy_bytes, "counter");
});
