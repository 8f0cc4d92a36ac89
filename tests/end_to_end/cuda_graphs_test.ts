/** CUDA graphs: their structures have signatures, and in node mode their kernels count. */

import assert from "node:assert/strict";
import { compiler } from "../doubles/cuda/build.ts";
import {
  booked,
  exact,
  frames,
  runScenario,
  type ScenarioOptions,
} from "../doubles/cuda/harness.ts";
import { missingCompiler, testUnless } from "../skipping.ts";

const test = testUnless(missingCompiler(compiler));

/** Names of structures by their signatures, which must be the same in every run. */
async function signatures(
  scenario: string,
  options: ScenarioOptions,
): Promise<Record<string, string>> {
  const { payload, books: [own] } = await exact(scenario, options);
  const due = new Map(
    [...booked(own!, "cuda_graphs_nanoseconds")].map(([name, value]) => [value, name]),
  );
  const found = frames(payload, own!.pid, "cuda_graphs_nanoseconds");
  const named = [...found].map(([signature, value]) => {
    assert.match(signature, /^[0-9a-f]{16}$/);
    return [due.get(value) ?? `none with ${value}`, signature] as const;
  });
  assert.deepEqual(named.map(([name]) => name).sort(), [...due.values()].sort());
  return Object.fromEntries(named);
}

test("graphs with one structure have one signature, in every process and however created", async () => {
  const first = await signatures("graphs", { toolkit: "13.0" });
  assert.deepEqual(await signatures("graphs", { toolkit: "12.4" }), first);
  const env = { FAKE_GRAPH_ID: "template" };
  assert.deepEqual(await signatures("graphs", { toolkit: "11.8", env }), first);
  assert.deepEqual(await signatures("graphs", { toolkit: "12.1", env }), first);
});

test("captures may overlap, fail and be given up, on any thread, and have one signature", async () => {
  const { chain } = await signatures("graphs", {});
  assert.deepEqual(await signatures("captures", {}), { chain });
});

test("launches call the profiler only while a stream is captured", async () => {
  await exact("spread");
  await exact("spread", { flags: ["--cuda-graph-trace", "node"] });
});

test("records may have the id of the instantiated template", async () => {
  await signatures("graphs", { env: { FAKE_GRAPH_ID: "template" } });
});

test("a child graph is part of the structure", async () => {
  await signatures("child_graphs", {});
});

test("in node mode kernels of graphs count as kernels, and there are no graphs", async () => {
  const { payload, books: [own] } = await exact("graphs", {
    flags: ["--cuda-graph-trace", "node"],
    env: { WORKLOAD_NODE_MODE: "1" },
  });
  assert.equal(frames(payload, own!.pid, "cuda_graphs_nanoseconds").size, 0);
  const mode = payload.metrics.find(({ name }) => name === "cuda_graph_trace_mode");
  assert(mode?.type === "gauge" && mode.stats.value === 1);
});

test("a long capture of a graph does not interrupt the profiler", async () => {
  for (const { errors } of await Promise.all(["graph", "node"].map(capture))) {
    assert.deepEqual(errors, []);
  }
  async function capture(mode: string) {
    const flags = ["--cuda-graph-trace", mode];
    return (await runScenario("long_capture", { flags })).payload;
  }
});
