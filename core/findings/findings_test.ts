/** Findings as a whole: what holds for any windows, and how findings of several instances are told. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { instanceFacts, type InstanceRead } from "../facts/mod.ts";
import { type Series, seriesKey } from "../series/mod.ts";
import type { Tags } from "../tags.ts";
import { windows } from "../testdata/arbitrary.ts";
import { SECOND_NS } from "../time.ts";
import { type Resource, resourceKey, type Window } from "../window.ts";
import { findings } from "./mod.ts";
import { assertSupported, factsOf, idsOf, judged, judgedAll } from "./testdata/judged.ts";
import {
  a100,
  h100,
  serving,
  SYMBOLS,
  trainer,
  training,
  vllm,
  work,
} from "./testdata/workloads.ts";

/** Names that rules read, by the type that they have; arbitrary windows get them. */
const NAMES: Readonly<Record<Series["type"], readonly string[]>> = {
  gauge: [
    ...["utilization_percent", "sm_utilization_percent", "tensor_utilization_percent"],
    ...["dram_bandwidth_utilization_percent", "memory_used_bytes", "memory_total_bytes"],
    ...["clock_sm_megahertz", "max_clock_sm_megahertz", "power_management_limit_watts"],
    ...["pcie_link_generation", "pcie_link_width", "nvlink_link_count", "nvlink_active_links"],
  ].map((name) => `gpu_${name}`).concat([
    ...["host_cpu_usage_percent", "host_memory_usage_bytes", "host_memory_total_bytes"],
    ...["host_swap_usage_bytes", "cuda_graph_trace_mode", "profiler_capture_state"],
    ...["vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc"],
    ...["sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:spec_accept_rate"],
  ]),
  counter: [
    ...["gpu_busy_nanoseconds", "gpu_throttled_nanoseconds", "gpu_xid_critical_errors"],
    ...["gpu_ecc_errors_corrected_volatile", "gpu_pcie_replay_counter", "cuda_memcpy_bytes"],
    ...["process_user_cpu_seconds", "host_pressure_stall_microseconds", "host_disk_write_bytes"],
    ...["vllm:generation_tokens_total", "vllm:prompt_tokens_total", "vllm:request_success_total"],
    ...["profiler_covered_nanoseconds", "sglang:num_aborted_requests_total"],
  ],
  histogram: [
    ...["cuda_kernel_duration_nanoseconds", "vllm:request_queue_time_seconds"],
    ...["vllm:time_to_first_token_seconds", "vllm:e2e_request_latency_seconds"],
    ...["vllm:inter_token_latency_seconds", "sglang:queue_time_seconds"],
  ],
  profile: [
    ...["kernels", "graphs", "memcpy", "memset", "sync"].map((kind) => `cuda_${kind}_nanoseconds`),
    "rocm_kernels_nanoseconds",
  ],
};

const tags: fc.Arbitrary<Tags> = fc.record({
  "device.uuid": fc.constantFrom("GPU-0", "GPU-1"),
  "process.pid": fc.constantFrom("7", "8"),
  kind: fc.constantFrom("host_to_device", "device_to_host", "full"),
  resource: fc.constantFrom("io", "memory", "cpu"),
  reason: fc.constantFrom("hw_slowdown", "sw_power_cap"),
}, { requiredKeys: ["device.uuid"], noNullPrototype: true });

/** A window whose series have names that rules read. */
function known(from_ns: bigint, to_ns: bigint): fc.Arbitrary<Window> {
  return fc.tuple(
    windows(from_ns, to_ns),
    fc.array(fc.nat(), { minLength: 8, maxLength: 8 }),
    fc.array(tags, { minLength: 8, maxLength: 8 }),
  ).map(([window, picks, all]) => {
    const series = [...window.series.values()].map((one, at): Series => {
      const names = NAMES[one.type];
      return { ...one, name: names[picks[at % 8]! % names.length]!, tags: all[at % 8]! };
    });
    const device: Resource = {
      kind: "device",
      tags: { "device.uuid": "GPU-0" },
      attributes: { "device.name": "NVIDIA A100-SXM4-80GB", "device.compute_capability": "8.0" },
      first_seen_ts: 0,
      last_seen_ts: 1,
    };
    return {
      ...window,
      series: new Map(series.map((one) => [seriesKey(one), one])),
      resources: new Map([...window.resources, [resourceKey(device), device]]),
    };
  });
}

const reads: fc.Arbitrary<InstanceRead> = fc.tuple(
  ...Array.from(
    { length: 9 },
    (_, at) => known(BigInt(at * 10) * SECOND_NS, BigInt(at * 10 + 10) * SECOND_NS),
  ),
).map((all) => ({
  instance: {
    instance_id: "0123456789ab",
    resource_id: "r",
    tags: {},
    attributes: { "process.command_line": "vllm serve m --enforce-eager" },
    first_seen_ts: 0,
    last_seen_ts: 90,
  },
  asked: { from_ns: 0n, to_ns: 90n * SECOND_NS },
  steps: all.map((window) => ({ window, gaps: [] })),
  is_running: true,
}));

Deno.test("any windows have findings with shares from 0 to 1, finite numbers and words", () => {
  fc.assert(
    fc.property(reads, (read) => {
      const found = findings([instanceFacts(read)]);
      for (const { id, share_at_stake, evidence, title, verify } of found.findings) {
        const share = share_at_stake ?? 0;
        assert.ok(share >= 0 && share <= 1, `${id}: ${share}`);
        assert.ok(evidence.every(({ value }) => Number.isFinite(value)), id);
        assert.doesNotMatch(title + verify, /NaN|undefined|null|Infinity/, id + title);
      }
      assert.doesNotMatch(found.verdict.sentence, /NaN|undefined|Infinity/);
    }),
    { numRuns: 300 },
  );
});

Deno.test("the order of findings is the same for the same windows, in whatever order series come", () => {
  fc.assert(
    fc.property(reads, fc.nat(), (read, seed) => {
      const shuffled = read.steps.map(({ window, gaps }) => {
        const all = [...window.series];
        const at = all.length > 0 ? seed % all.length : 0;
        return {
          gaps,
          window: { ...window, series: new Map([...all.slice(at), ...all.slice(0, at)]) },
        };
      });
      assert.deepEqual(
        findings([instanceFacts({ ...read, steps: shuffled })]).findings.map(({ id }) => id),
        findings([instanceFacts(read)]).findings.map(({ id }) => id),
      );
    }),
    { numRuns: 100 },
  );
});

const eager = training({
  devices: [a100({ kernels: [work(SYMBOLS.add, 0.24, 2)], gauges: { utilization_percent: 30 } })],
  processes: [trainer({ cpus: 1 })],
});

Deno.test("a finding of several instances is told once, with how many it is of", () => {
  const { findings } = judgedAll([eager, training(), eager]);
  const found = findings.filter(({ id }) => id === "gpu_idle/launch_bound");
  assert.equal(found.length, 1);
  assert.equal(found[0]!.where, "2 of 3 instances");
  assert.deepEqual(found[0]!.instances, ["000000000000", "000000000002"]);
});

Deno.test("a finding of two engines of one instance is told of one instance", () => {
  const waiting = (engine: string) => ({
    ...vllm({
      gauges: { "vllm:num_requests_waiting": 90 },
      histograms: { "vllm:request_queue_time_seconds": [8.7, 10] },
    }),
    tags: { model_name: "m", engine },
  });
  const facts = [
    factsOf(serving({ engine: waiting("0") })),
    factsOf(serving({ engine: waiting("1") })),
  ];
  const both = { ...facts[0]!, engines: facts.flatMap(({ engines }) => engines) };
  const [first] = findings([both]).findings;
  assert.equal(first!.id, "engine/batch_limit");
  assert.equal(first!.instances.length, 1);
});

Deno.test("what a cause explains comes after it, and beside it only what is sure by itself", () => {
  const found = judged(serving({
    command: "vllm serve m --enforce-eager",
    devices: [a100({ kernels: [work(SYMBOLS.add, 0.24, 2)], gauges: { utilization_percent: 30 } })],
    processes: [{ pid: 100, command: "VLLM::EngineCore", cpus: 1 }],
  }));
  assert.deepEqual(idsOf(found), ["engine/graphs_off"]);
  const [, launches] = found.findings;
  assert.equal(launches!.id, "gpu_idle/launch_bound");
  assert.equal(launches!.consequence_of, "engine/graphs_off");
});

Deno.test("an error that stopped work comes before what costs a part of the time", () => {
  const found = judged((step) => ({
    ...eager,
    devices: [h100({ kernels: [work(SYMBOLS.attention_flash2, 0.97, 900)] })],
    errors: step === 9 ? [{ level: "error" as const, message: "CUDA out of memory." }] : [],
  }));
  assert.deepEqual(idsOf(found), ["errors/out_of_memory", "kernels/attention_generation"]);
});

Deno.test("a full device of a training run: what its allocator holds is not known, and said once", () => {
  const load = training({
    devices: [0, 1].map((at) => h100({ pid: 100 + at, gauges: { memory_used_bytes: 82e9 } })),
  });
  const missing = judged(load).not_known.filter(({ rule }) => rule === "device_memory");
  assert.equal(missing.length, 1);
  assert.equal(judged(training()).not_known.some(({ rule }) => rule === "device_memory"), false);
  assert.equal(judged(load).verdict.kind, "nothing_stands_out");
});

Deno.test("instances that differ in one option, and in their speed", () => {
  const slow = serving({
    command: "vllm serve m --kv-cache-dtype fp8",
    engine: vllm({ histograms: { "vllm:inter_token_latency_seconds": [3480, 0.023] } }),
  });
  const found = judgedAll([serving(), slow, serving()]).findings.find(({ id }) => id === "differ");
  assert.match(found!.title, /`--kv-cache-dtype`=fp8 tokens come every 23/);
  assert.ok(Math.abs(found!.share_at_stake! - 0.5 / 3) < 0.03);
  const busier = judgedAll([
    serving(),
    { ...slow, engine: { ...slow.engine, gauges: { "vllm:num_requests_running": 80 } } },
  ]);
  assert.deepEqual(busier.findings, [], "more requests take longer each");
  const same = judgedAll([serving(), serving({ command: "vllm serve m --kv-cache-dtype fp8" })]);
  assert.deepEqual(same.findings, []);
});

Deno.test("nothing captured: the verdict says that it cannot be told, and how to know", () => {
  const refused = "another tool holds CUPTI: NVIDIA Nsight Systems";
  const found = judged(training({
    devices: [{ ...h100(), isRecorded: false }],
    refused: { gpu_kernels: refused },
  }));
  assert.equal(found.verdict.kind, "cannot_tell");
  assert.match(found.verdict.sentence, /Nsight Systems/);
  assert.match(found.not_known[0]!.how, /without the other profiler/);
});

Deno.test("a short run: the verdict says so", () => {
  const found = judged(training(), { steps: 2 });
  assert.equal(found.verdict.kind, "cannot_tell");
  assert.match(found.verdict.sentence, /20 s/);
});

Deno.test("what is as it should be has its numbers in the windows", () => {
  const load = serving();
  const found = judged(load);
  assert.ok(found.sound.length >= 2);
  assertSupported(found, load);
});

Deno.test("lost records and an engine that cannot be read are said", () => {
  const lossy = training({ devices: [h100({ lost_per_second: 2000 })] });
  assert.match(judged(lossy).not_known.map(({ missing }) => missing).join(), /records were lost/);
  const unread = serving({ engine: {}, refused: { engine_metrics: "0 where it cannot be read" } });
  const { not_known } = judged(unread);
  assert.match(not_known.map(({ how }) => how).join(), /--metrics-port/);
});
