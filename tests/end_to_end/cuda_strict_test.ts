/** Capture of CUDA under the strict double, which was written apart from the library and its tests. */

import assert from "node:assert/strict";
import type { Signals } from "@service/core";
import { compiler, missingSanitizer } from "../doubles/cuda/build.ts";
import { captureStates, frames, runScenario } from "../doubles/cuda/harness.ts";
import type { StrictToolkit } from "../doubles/cupti_strict/build.ts";
import type { MixedResult, StormResult } from "../doubles/cupti_strict/harness.ts";
import { measure, type MeasuredOptions, strictUuid } from "../doubles/cupti_strict/run.ts";
import { missingCompiler, testUnless } from "../skipping.ts";

const test = testUnless(missingCompiler(compiler));
const DEVICES = 2;

/** Value and samples of each frame of a profile on one device, as texts. */
function profile(payload: Signals, name: string, device: number): Map<string, string> {
  const found = payload.metrics.find((metric) =>
    metric.name === name && metric.tags["device.uuid"] === strictUuid(device)
  );
  if (found?.type !== "profile") return new Map();
  return new Map(found.stats.frames.map((f) => [f.name, `${f.value} ${f.samples}`]));
}

function counter(
  payload: Signals,
  name: string,
  tags: Record<string, string> = {},
): bigint | number {
  const found = payload.metrics.find((metric) =>
    metric.name === name &&
    Object.entries(tags).every(([tag, value]) => metric.tags[tag] === value)
  );
  assert.equal(found?.type, "counter", name);
  return found?.type === "counter" ? found.stats.total : 0;
}

/** What each name of a kernel has to have, names that are no text left out. */
function dueKernels({ kernels }: MixedResult, device: number): Map<string, string> {
  const sums = new Map<string, { ns: number; calls: number }>();
  for (const kernel of kernels) {
    if (kernel.device !== device || kernel.calls === 0) continue;
    const sum = sums.get(kernel.name) ?? { ns: 0, calls: 0 };
    sums.set(kernel.name, { ns: sum.ns + kernel.ns, calls: sum.calls + kernel.calls });
  }
  return new Map([...sums].map(([hex, { ns, calls }]) => [textOf(hex), `${ns} ${calls}`]));
}

function textOf(hex: string): string {
  const bytes = hex.match(/../g)?.map((byte) => parseInt(byte, 16)) ?? [];
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

async function exact(options: MeasuredOptions): Promise<void> {
  const env = { STRICT_DEVICES: String(DEVICES), STRICT_WORKERS: "2", ...options.env };
  const { payload, printed, misuse } = await measure({
    ...options,
    words: ["scenario=mixed", ...options.words ?? []],
    env,
  });
  const due: MixedResult = printed;
  assert.deepEqual(misuse, []);
  assert.equal(due.dropped, 0);
  for (let device = 0; device < DEVICES; device++) assertDevice(payload, due, device);
  for (const name of ["cuda_dropped_records_total", "cuda_invalid_records_total"]) {
    assert.equal(Number(counter(payload, name)), 0, name);
  }
}

function assertDevice(payload: Signals, due: MixedResult, device: number): void {
  const kernels = profile(payload, "cuda_kernels_nanoseconds", device);
  const expected = dueKernels(due, device);
  const isPlain = ([name]: [string, string]) => /^kernel_\d+_\d+x*$/.test(name);
  assert.deepEqual(
    new Map([...kernels].filter(isPlain).sort()),
    new Map([...expected].filter(isPlain).sort()),
  );
  assert.deepEqual([...kernels.values()].sort(), [...expected.values()].sort());
  const copies = profile(payload, "cuda_memcpy_nanoseconds", device);
  for (const kind of ["host_to_device", "device_to_host", "device_to_device", "peer_to_peer"]) {
    const [calls, bytes, ns] = due.copies[kind]!;
    assert.equal(copies.get(kind), `${ns} ${calls}`, kind);
    const tags = { kind, "device.uuid": strictUuid(device) };
    assert.equal(Number(counter(payload, "cuda_memcpy_bytes", tags)), bytes, kind);
  }
  const [launches, graph_ns] = due.graphs[device]!;
  const inGraph = launches > 0 ? [0, 0, 0] : due.copies["set_in_graph"]!;
  const [calls, bytes, ns] = due.copies["set"]!.map((value, i) => value + inGraph[i]!);
  const sets = profile(payload, "cuda_memset_nanoseconds", device);
  assert.deepEqual([...sets.values()], [`${ns} ${calls}`]);
  const tags = { "device.uuid": strictUuid(device) };
  assert.equal(Number(counter(payload, "cuda_memset_bytes", tags)), bytes);
  const graphs = profile(payload, "cuda_graphs_nanoseconds", device);
  assert.deepEqual([...graphs.values()], launches > 0 ? [`${graph_ns} ${launches}`] : []);
}

const WAYS: [StrictToolkit, string][] = [
  ["12.8", "thread"],
  ["12.9", "thread"],
  ["13.0", "inline"],
  ["13.5", "thread"],
  ["13.5", "inline"],
];

for (const [toolkit, delivery] of WAYS) {
  test(`strict CUPTI ${toolkit}, delivery ${delivery}: all values are exact`, async () => {
    await exact({ toolkit, env: { STRICT_DELIVERY: delivery } });
  });
}

test("strict CUPTI: buffers that come after their flush are read", async () => {
  await exact({ toolkit: "13.5", words: ["settle=1500"], env: { STRICT_DELIVERY: "late" } });
});

test("strict CUPTI: symbols that are no text lose nothing", async () => {
  await exact({ toolkit: "13.5", words: ["odd=1"] });
});

test("strict CUPTI: kernels of graphs are counted in node mode", async () => {
  await exact({ toolkit: "13.5", flags: ["--cuda-graph-trace", "node"] });
});

/** Signatures of the strict double's graphs by their structures. */
async function signatures(env: Record<string, string>): Promise<Record<string, string>> {
  const words = ["scenario=graphs"];
  const { payload, printed, misuse } = await measure({ toolkit: "13.5", words, env });
  assert.deepEqual(misuse, []);
  const due = new Map<string, { calls: number; ns: number }>();
  for (const { structure, calls, ns } of printed) {
    const sum = due.get(structure) ?? { calls: 0, ns: 0 };
    due.set(structure, { calls: sum.calls + calls, ns: sum.ns + ns });
  }
  const found = profile(payload, "cuda_graphs_nanoseconds", 0);
  return Object.fromEntries(
    [...due].map(([structure, { calls, ns }]) => {
      const [signature] = [...found].find(([, value]) => value === `${ns} ${calls}`) ?? [];
      return [structure, signature ?? `none with ${ns} ${calls}`];
    }),
  );
}

test("strict CUPTI: graphs have the signatures that they have under the first double", async () => {
  const strict = await signatures({ STRICT_NODE_SYMBOLS: "1" });
  const first = await Promise.all(["graphs", "child_graphs"].map(async (scenario) => {
    const { payload, books: [own] } = await runScenario(scenario);
    return [...frames(payload, own!.pid, "cuda_graphs_nanoseconds").keys()];
  }));
  assert.deepEqual(Object.values(strict).sort(), first.flat().sort());
});

test("strict CUPTI: a structure has one signature, whichever node an edge is told with", async () => {
  const strict = await signatures({ STRICT_NODE_SYMBOLS: "1", STRICT_EDGES: "from" });
  assert.equal(new Set(Object.values(strict)).size, 4);
  for (const signature of Object.values(strict)) assert.match(signature, /^[0-9a-f]{16}$/);
});

test("strict CUPTI: nodes without a symbol make a graph unidentified, and that is counted", async () => {
  const words = ["scenario=graphs"];
  const { payload, misuse } = await measure({ toolkit: "13.5", words });
  assert.deepEqual(misuse, []);
  assert.equal(Number(counter(payload, "cuda_unidentified_graphs_total")), 4);
});

test("strict CUPTI: what cannot be read in time is counted", async () => {
  const { payload, printed } = await measure({
    toolkit: "13.5",
    words: ["records=200000", "duration=20", "symbols=1", "addresses=1", "settle=4000"],
    env: { STRICT_DELIVERY: "late", STRICT_CHECKS: "0" },
  });
  const { records }: StormResult = printed;
  const dropped = Number(counter(payload, "cuda_dropped_records_total"));
  const kernels = profile(payload, "cuda_kernels_nanoseconds", 0);
  const counted = [...kernels.values()].reduce((sum, text) => sum + +text.split(" ")[1]!, 0);
  assert(dropped > 0);
  assert(
    Math.abs(counted + dropped - records) <= records / 1_000,
    `${counted} + ${dropped} of ${records}`,
  );
});

test("strict CUPTI: a client that takes the buffers is told", async () => {
  const words = ["scenario=rival", "seconds=4"];
  const { payload, misuse } = await measure({ toolkit: "13.5", words, speaks: true });
  assert.deepEqual(misuse, []);
  assert.match(payload.errors.map(({ message }) => message).join("\n"), /another|buffers/i);
});

/** Variables of the double, and what the state of the process says. */
const REFUSALS: [Record<string, string>, RegExp][] = [
  [{ STRICT_FAIL: "cuptiSubscribe=39" }, /another tool/],
  [{ STRICT_RIVAL: "Nsight Systems" }, /another tool.*Nsight Systems/],
  [{ STRICT_FAIL: "cuptiSubscribe=999" }, /./],
  [{ STRICT_FAIL: "cuptiActivityEnable:22=15" }, /./],
  [{ STRICT_DRIVER: "12040" }, /./],
];

for (const [env, reason] of REFUSALS) {
  test(`strict CUPTI: ${JSON.stringify(env)} leaves the workload as it is`, async () => {
    const words = ["records=1000", "settle=0"];
    const { payload, misuse } = await measure({ toolkit: "13.5", words, env });
    assert.deepEqual(misuse, []);
    const [state] = captureStates(payload);
    assert.match(state!, /^0 /);
    assert.match(state!, reason);
  });
}

for (const sanitizer of ["address,undefined", "thread"] as const) {
  testUnless(await missingSanitizer(sanitizer))(
    `strict CUPTI: values are exact under -fsanitize=${sanitizer}`,
    async () => {
      await exact({ toolkit: "13.5", sanitizer, words: ["odd=1"] });
    },
  );
}
