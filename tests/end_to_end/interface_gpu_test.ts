/** The interface's sentences about GPUs, at both endpoints: fake drivers, one run, uploaded. */

import assert from "node:assert/strict";
import { instanceList, type Metric, type Signals, signals } from "@service/core";
import { tsFromNs } from "@service/core/time";
import { compiler } from "../doubles/cuda/build.ts";
import {
  assertExact,
  booked,
  frames,
  runScenario,
  type ScenarioOptions,
} from "../doubles/cuda/harness.ts";
import { driver } from "../doubles/nvml/build.ts";
import { missingCompiler, testUnless } from "../skipping.ts";
import { readLocal, startHosted, until, uploadTo } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

const test = testUnless(missingCompiler(compiler));

/** A scenario that is uploaded: its books, and the payload of each endpoint after its end. */
async function uploaded(scenario: string, options: ScenarioOptions = {}) {
  await using directory = await temporaryDirectory();
  await using hosted = await startHosted(directory.path);
  const env = { ...uploadTo(hosted), ...options.env };
  const { payload, books } = await runScenario(scenario, { ...options, env });
  const { instances: [instance] } = await hosted.get("/api/v1/instances", instanceList);
  const query = `instance_id=${instance!.instance_id}&start=${tsFromNs(payload.start_ns)}`;
  const read = await hosted.get(`/api/v1/signals?${query}`, signals);
  return { payloads: { local: payload, hosted: read }, books };
}

/** The metrics of that name. */
function named({ metrics }: Signals, name: string): Metric[] {
  return metrics.filter((metric) => metric.name === name);
}

/** The modes, their flags, and the value that tells of them. */
const MODES: Record<string, [value: number, flags: string[]]> = {
  graph: [0, []],
  node: [1, ["--cuda-graph-trace", "node"]],
};

for (const [mode, [value, flags]] of Object.entries(MODES)) {
  test(`in ${mode} mode both payloads have the booked kernels and graphs, and tell the mode`, async () => {
    const env = { WORKLOAD_NODE_MODE: String(value) };
    const { payloads, books } = await uploaded("graphs", { flags, env });
    const [own, ...others] = books;
    assert.deepEqual(others, []);
    const { pid } = own!;
    const due = booked(own!, "cuda_graphs_nanoseconds");
    assert.equal(due.size > 0, mode === "graph");
    for (const payload of Object.values(payloads)) {
      assertExact(payload, books);
      const found = frames(payload, pid, "cuda_graphs_nanoseconds");
      assert.deepEqual([...found.values()].sort(), [...due.values()].sort());
      for (const signature of found.keys()) assert.match(signature, /^[0-9a-f]{16}$/);
      assert(named(payload, "cuda_graphs_nanoseconds").length > 0, "present, also if empty");
      const [gauge, ...others] = named(payload, "cuda_graph_trace_mode");
      assert.deepEqual([gauge!.type, gauge!.stats, others], ["gauge", { value }, []]);
    }
  });
}

test("both payloads have what devices measure, with extremes, and devices by their uuid", async () => {
  await using directory = await temporaryDirectory();
  await Deno.writeTextFile(`${directory.path}/script`, "devices 1\nset 0 utilization 40");
  const { payloads, books } = await uploaded("live", {
    env: { SERVICE_NVML_LIBRARY: await driver(), FAKE_NVML: `${directory.path}/script` },
    async during({ run, openGate }) {
      await until(async () =>
        named(await readLocal(run), "gpu_utilization_percent_distribution").length > 0
      );
      await openGate();
    },
  });
  for (const payload of Object.values(payloads)) {
    assertExact(payload, books);
    const [utilization] = named(payload, "gpu_utilization_percent");
    assert.deepEqual([utilization!.type, utilization!.stats], ["gauge", { value: 40 }]);
    const [distribution] = named(payload, "gpu_utilization_percent_distribution");
    assert(distribution?.type === "histogram");
    const { count, sum, ...others } = distribution.stats;
    assert.deepEqual([count > 0, Number(sum) / count], [true, 40]);
    assert.deepEqual(others, { min: 40, max: 40, mean: 40, p50: 40, p95: 40 });
    const kinds = named(payload, "cuda_memcpy_bytes").map(({ type, tags }) => [type, tags.kind]);
    assert(kinds.some(([type, kind]) => type === "counter" && kind === "host_to_device"));
    const devices = payload.resources.filter(({ kind }) => kind === "device");
    const measured = devices.find(({ tags }) =>
      tags["device.uuid"] === utilization!.tags["device.uuid"]
    );
    assert(measured?.attributes["device.name"]);
    for (const { tags } of devices) assert.deepEqual(Object.keys(tags), ["device.uuid"]);
  }
});
