/** Healthy workloads with noise: no finding, whatever the seed, and the right verdict. */

import assert from "node:assert/strict";
import type { Load } from "./testdata/load.ts";
import { assertSupported, judged, type Played } from "./testdata/judged.ts";
import {
  a100,
  decoder,
  h100,
  HOST,
  mi300x,
  serving,
  SYMBOLS,
  trainer,
  training,
  vllm,
  work,
} from "./testdata/workloads.ts";

const SEEDS = 100;

const quiet = vllm({
  gauges: { "vllm:num_requests_running": 0, "vllm:kv_cache_usage_perc": 0 },
  counters: {
    "vllm:prompt_tokens_total": 0,
    "vllm:generation_tokens_total": 0,
    "vllm:prefix_cache_queries_total": 0,
    "vllm:prefix_cache_hits_total": 0,
  },
  histograms: {
    "vllm:request_queue_time_seconds": [0, 0],
    "vllm:request_prefill_time_seconds": [0, 0],
    "vllm:time_to_first_token_seconds": [0, 0],
    "vllm:inter_token_latency_seconds": [0, 0],
    "vllm:e2e_request_latency_seconds": [0, 0],
  },
});
const resting = decoder({
  kernels: [],
  graphs: [],
  copies: [],
  waits: [],
  gauges: { utilization_percent: 0, tensor_utilization_percent: 0, clock_sm_megahertz: 345 },
});

/** An engine with requests in two of five steps. */
function bursts(step: number): Load {
  return step % 5 < 2 ? serving() : serving({ devices: [resting], engine: quiet });
}

const eight = Array.from({ length: 8 }, (_, rank) =>
  h100({
    pid: 100 + rank,
    kernels: [...h100().kernels!, work(SYMBOLS.reduce, 0.07, 1300)],
    busy: 0.98,
  }));

/** States of capture where there is no driver, as the profiler tells them. */
const WITHOUT_GPU = {
  gpu_kernels: "0 until a process of the workload uses a GPU and is captured",
  gpu_devices: "no NVIDIA driver: there is no libnvidia-ml.so.1",
  engine_metrics: "no engine is known by the command",
};

const HEALTHY: Readonly<Record<string, { load: Played; verdict: string }>> = {
  "training that is busy 97 %": { load: training(), verdict: "nothing_stands_out" },
  "training on an A100, which tells no shares": {
    load: training({ devices: [a100()] }),
    verdict: "nothing_stands_out",
  },
  "training on eight devices with hidden collectives": {
    load: training({
      devices: eight,
      processes: eight.map(({ pid }) => trainer({ pid })),
      host: { cpus: 192 },
    }),
    verdict: "nothing_stands_out",
  },
  "training on AMD": { load: training({ devices: [mi300x()] }), verdict: "nothing_stands_out" },
  "training on a part of a device (MIG), which tells no utilization": {
    load: training({
      devices: [{
        ...a100(),
        name: "NVIDIA A100-SXM4-80GB MIG 3g.40gb",
        gauges: { memory_used_bytes: 30e9, memory_total_bytes: 42e9 },
        throttled: {},
      }],
    }),
    verdict: "nothing_stands_out",
  },
  "training at its own power limit": {
    load: training({
      devices: [h100({
        throttled: { sw_power_cap: 0.8 },
        gauges: { clock_sm_megahertz: 1600, power_usage_watts: 695 },
      })],
    }),
    verdict: "nothing_stands_out",
  },
  "decoding at the roofline": { load: serving(), verdict: "nothing_stands_out" },
  "decoding with graphs taken apart into short kernels": {
    load: serving({
      devices: [decoder({
        graphs: [],
        graph_trace_mode: 1,
        kernels: [
          work(SYMBOLS.gemm, 0.7, 9),
          work(SYMBOLS.attention, 0.16, 4),
          work(SYMBOLS.fused, 0.1, 2),
        ],
      })],
    }),
    verdict: "nothing_stands_out",
  },
  "requests in bursts, 40 % of the time": { load: bursts, verdict: "nothing_stands_out" },
  "a server that nobody asks": {
    load: serving({ devices: [resting], engine: quiet }),
    verdict: "no_load",
  },
  "a script of one thread on a host without a driver": {
    load: {
      command: "python etl.py",
      processes: [trainer({ command: "python etl.py", cpus: 0.98 })],
      host: HOST,
      refused: WITHOUT_GPU,
    },
    verdict: "nothing_stands_out",
  },
  "a script on a host whose GPUs were not captured": {
    load: {
      command: "python etl.py",
      processes: [trainer({ command: "python etl.py", cpus: 0.98 })],
      host: HOST,
      refused: { gpu_kernels: "0 until a process of the workload starts CUDA and is captured" },
    },
    verdict: "cannot_tell",
  },
};

for (const [name, { load, verdict }] of Object.entries(HEALTHY)) {
  Deno.test(`${name}: no finding but the verdict ${verdict}`, () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const found = judged(load, { seed, spread: seed % 2 === 0 ? 0.02 : 0.05 });
      const ids = found.findings.map(({ id }) => id).filter((id) => id !== "no_load");
      assert.deepEqual(ids, [], `seed ${seed}`);
      assert.equal(found.verdict.kind, verdict, `seed ${seed}: ${found.verdict.sentence}`);
    }
  });
}

Deno.test("without a GPU the verdict tells the use of processors, and asks for no capture", () => {
  const load = {
    processes: [trainer({ cpus: 0.98 })],
    host: { cpus: 64 },
    refused: WITHOUT_GPU,
  };
  const found = judged(load);
  assert.match(found.verdict.sentence, /without an NVIDIA driver one process .* one thread/);
  assert.deepEqual(found.not_known.map(({ rule, is_decisive }) => [rule, is_decisive]), [
    ["capture", false],
  ]);
  assertSupported(found, load);
  const waits = judged({ ...load, processes: [trainer({ cpus: 0.3 })] });
  assert.doesNotMatch(waits.verdict.sentence, /one thread/);
});
