/** Host: processors, memory, storage and single threads that the workload waits for. */

import { testFindings } from "./testdata/judged.ts";
import type { HostLoad, ProcessLoad } from "./testdata/load.ts";
import {
  a100,
  decoder,
  HOST,
  serving,
  SYMBOLS,
  trainer,
  training,
  vllm,
  work,
} from "./testdata/workloads.ts";

const idle = a100({
  kernels: [work(SYMBOLS.gemm_ampere, 0.5, 700)],
  gauges: { utilization_percent: 55 },
});

function on(host: Partial<HostLoad>, process: Partial<ProcessLoad> = {}, device = idle) {
  return training({
    devices: [device],
    processes: [trainer({ cpus: 0.6, ...process })],
    host: { ...HOST, ...host },
  });
}

const many = Array.from({ length: 15 }, (_, at) => ({
  pid: 200 + at,
  parent: 100,
  command: "python train.py",
  cpus: 0.99,
}));

/** A server whose engine has little to do, since requests wait before it. */
function fronted(api: number, { idle: share = 0.55, busy = 0.95 } = {}) {
  return serving({
    devices: [decoder({ graphs: [{ name: "g", share: 1 - share, seconds: 0.0045 }], kernels: [] })],
    processes: [
      { pid: 90, command: "vllm serve m --port 8000", cpus: api },
      { pid: 100, parent: 90, command: "VLLM::EngineCore", cpus: busy },
    ],
    engine: vllm({ histograms: { "vllm:time_to_first_token_seconds": [8.7, 3.1] } }),
  });
}

testFindings({
  "programs that are not of the workload": {
    load: on({ used: 0.97, stalled: { "cpu some": 0.5 } }, { involuntary_per_second: 2600 }),
    class: "host",
    id: "host/neighbours",
    stake: [0.45, 0.55],
    title: /other programs take them/,
  },
  "a virtual machine whose host takes its processors": {
    load: on({ steal: 0.35, used: 0.4, stalled: { "cpu some": 0.3 } }),
    class: "host",
    id: "host/steal",
    stake: [0.45, 0.55],
  },
  "the workload's own processes": {
    load: training({
      devices: [idle],
      processes: [trainer({ cpus: 0.8 }), ...many],
      host: { cpus: 16, stalled: { "cpu some": 0.4 } },
    }),
    class: "host",
    id: "host/saturated",
    stake: [0.45, 0.55],
  },
  "programs of the workload that each live for less than a second, without a GPU": {
    load: {
      command: "make -j16",
      processes: [{ pid: 7, command: "make -j16", cpus: 0.1 }],
      host: { cpus: 16, used: 0.99, ended_cpus: 15.5, stalled: { "cpu some": 0.4 } },
    },
    class: "host",
    id: "host/saturated",
    stake: [0.3, 0.5],
    title: /uses 15\.\d of 16 processors|uses 16 of 16 processors/,
  },
  "memory that is swapped": {
    load: on({
      memory_used_bytes: 511e9,
      swap_used_bytes: 40e9,
      stalled: { "memory some": 0.6, "memory full": 0.45, "io some": 0.5, "io full": 0.3 },
    }),
    class: "memory",
    id: "host/memory",
    stake: [0.4, 0.5],
  },
  "storage that everything waits for": {
    load: on({ stalled: { "io some": 0.6, "io full": 0.4 }, read_bytes_per_second: 1.5e8 }),
    class: "host",
    id: "host/storage",
    stake: [0.35, 0.55],
  },
  "a server's thread before the engine": {
    load: fronted(1.02),
    class: "host",
    id: "host/one_thread",
    stake: [0.5, 0.6],
    title: /process 90/,
  },
}, {
  "a busy host whose devices are busy too, and no task waits": {
    load: on({ used: 0.7 }, {}, a100()),
    never: /^host/,
  },
  "a few percent of steal": { load: on({ steal: 0.03 }), never: /steal/ },
  "memory in use as a cache": { load: on({ memory_used_bytes: 470e9 }), never: /memory/ },
  "storage that is used and not waited for": {
    load: on({ read_bytes_per_second: 2e9, stalled: { "io some": 0.05 } }),
    never: /storage/,
  },
  "an engine's loop that spins": { load: fronted(0.3, { busy: 1 }), never: /one_thread/ },
  "a server's thread that keeps the device fed": {
    load: fronted(1, { idle: 0.05 }),
    never: /one_thread/,
  },
});
