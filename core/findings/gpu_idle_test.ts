/** Idle devices: the cause is told by what is between two pieces of work. */

import type { Load } from "./testdata/load.ts";
import { testFindings } from "./testdata/judged.ts";
import {
  a100,
  decoder,
  HOST,
  serving,
  SYMBOLS,
  trainer,
  training,
  work,
} from "./testdata/workloads.ts";

const starved = { class: "starved" } as const;

/** Kernels that leave a part of the time. */
function half(share: number, microseconds: number) {
  return [work(SYMBOLS.gemm_ampere, share, microseconds)];
}

const tiny = training({
  devices: [a100({
    kernels: [work(SYMBOLS.add, 0.16, 2.1), work(SYMBOLS.gemm_ampere, 0.09, 4)],
    waits: [{ name: "stream", per_second: 60, share: 0.01 }],
    gauges: { utilization_percent: 30 },
  })],
  processes: [trainer({ cpus: 1 })],
});

const turns = training({
  devices: [a100({
    kernels: half(0.54, 90),
    copies: [{ kind: "device_to_host", share: 0.001, bytes: 4, bytes_per_second: 3.2e6 }],
    waits: [{ name: "stream", per_second: 820, share: 0.4 }],
    gauges: { utilization_percent: 60 },
  })],
  processes: [trainer({ cpus: 1 })],
});

const waiting = a100({
  kernels: half(0.4, 700),
  waits: [{ name: "stream", per_second: 3, share: 0.3 }],
  gauges: { utilization_percent: 44 },
});

function loaders(cpus: number) {
  return Array.from({ length: 6 }, (_, at) => ({
    pid: 200 + at,
    parent: 100,
    command: "python train.py",
    cpus,
  }));
}

/** Work in three of five steps, and what the disk does in the others. */
function paused(written: number): (step: number) => Load {
  return (step) =>
    step % 5 < 3 ? training({ devices: [a100()] }) : training({
      devices: [a100({ kernels: half(0.02, 2000), gauges: { utilization_percent: 2 } })],
      host: { ...HOST, written_bytes_per_second: written, stalled: { "io some": 0.2 } },
    });
}

testFindings({
  "kernels of 2 µs, launched one by one": {
    load: tiny,
    ...starved,
    id: "gpu_idle/launch_bound",
    stake: [0.72, 0.78],
    title: /launching .* kernels a second/,
  },
  "a quarter idle, by a thread that launches without pause": {
    load: training({
      devices: [
        a100({ kernels: [work(SYMBOLS.add, 0.75, 9)], gauges: { utilization_percent: 80 } }),
      ],
      processes: [trainer({ cpus: 1 })],
    }),
    ...starved,
    id: "gpu_idle/launch_bound",
    stake: [0.22, 0.29],
  },
  "kernels of 12 µs by a thread that has no time left": {
    load: training({
      devices: [
        a100({
          kernels: [work(SYMBOLS.gemm_ampere, 0.26, 12)],
          gauges: { utilization_percent: 30 },
        }),
      ],
      processes: [trainer({ cpus: 1 })],
    }),
    ...starved,
    id: "gpu_idle/launch_bound",
    stake: [0.7, 0.78],
  },
  "a value read back to the host 800 times a second": {
    load: turns,
    ...starved,
    id: "gpu_idle/sync_bound",
    stake: [0.42, 0.5],
  },
  "loaders without pause, while the trainer waits": {
    load: training({ devices: [waiting], processes: [trainer({ cpus: 0.2 }), ...loaders(0.98)] }),
    ...starved,
    id: "gpu_idle/input",
    stake: [0.57, 0.63],
    title: /6 loader processes/,
  },
  "loaders that wait for storage": {
    load: training({
      devices: [waiting],
      processes: [trainer({ cpus: 0.2 }), ...loaders(0.1)],
      host: { ...HOST, iowait: 0.2, stalled: { "io some": 0.7, "io full": 0.02 } },
    }),
    ...starved,
    id: "gpu_idle/storage",
    stake: [0.57, 0.63],
  },
  "a thread that is busy with something else": {
    load: training({ devices: [waiting], processes: [trainer({ cpus: 1 })] }),
    ...starved,
    id: "gpu_idle/host_bound",
    stake: [0.57, 0.63],
    title: /a whole processor/,
  },
  "layers that run on many processors": {
    load: training({ devices: [waiting], processes: [trainer({ cpus: 14 })] }),
    ...starved,
    id: "gpu_idle/host_bound",
    stake: [0.57, 0.63],
    title: /1[345](?:\.\d)? processors/,
  },
  "checkpoints that stop the work": {
    load: paused(1.6e9),
    ...starved,
    id: "gpu_idle/writing",
    stake: [0.36, 0.44],
    title: /written/,
  },
  "pauses with nothing that goes with them": {
    load: paused(1e5),
    ...starved,
    id: "gpu_idle/pauses",
    stake: [0.36, 0.44],
  },
  "another program on the device": {
    load: training({
      devices: [{ ...waiting, gauges: { ...waiting.gauges, utilization_percent: 100 } }],
      processes: [trainer({ cpus: 0.3 })],
    }),
    class: "device",
    id: "gpu_idle/shared",
    stake: [0.57, 0.63],
  },
  "nothing that explains it": {
    load: training({ devices: [waiting], processes: [trainer({ cpus: 0.3 })] }),
    ...starved,
    id: "gpu_idle/unexplained",
    stake: [0.57, 0.63],
  },
}, {
  "the same kernels on a busy device": {
    load: training({ devices: [a100({ kernels: half(0.96, 2.4) })] }),
    never: /^gpu_idle/,
  },
  "long kernels with long gaps": {
    load: training({ devices: [waiting], processes: [trainer({ cpus: 1 })] }),
    never: /launch_bound|sync_bound/,
  },
  "a step of an engine waits for its tokens by design": {
    load: serving({
      devices: [decoder({
        graphs: [{ name: "g", share: 0.5, seconds: 0.006 }],
        kernels: [],
        waits: [{ name: "event", per_second: 87, share: 0.5 }],
        copies: [{ kind: "device_to_host", share: 1e-4, bytes: 128, bytes_per_second: 1e8 }],
      })],
    }),
    never: /sync_bound/,
  },
  "the same of an engine whose metrics are not read": {
    load: serving({
      engine: {},
      devices: [decoder({
        graphs: [{ name: "g", share: 0.5, seconds: 0.006 }],
        kernels: [],
        waits: [{ name: "event", per_second: 87, share: 0.5 }],
      })],
    }),
    never: /sync_bound/,
  },
  "a thread that waits on the device all the time": {
    load: training({
      devices: [{ ...waiting, waits: [{ name: "stream", per_second: 3, share: 0.97 }] }],
      processes: [trainer({ cpus: 1 })],
    }),
    never: /host_bound/,
  },
  "kernels beside graphs that do the work": {
    load: serving({
      devices: [decoder({
        graphs: [{ name: "g", share: 0.35, seconds: 0.004 }],
        kernels: [work(SYMBOLS.add, 0.06, 5)],
      })],
    }),
    never: /launch_bound/,
  },
  "loaders that rest": {
    load: training({ devices: [waiting], processes: [trainer({ cpus: 0.2 }), ...loaders(0.2)] }),
    never: /input|storage/,
  },
  "idle time in each step": {
    load: training({ devices: [waiting], processes: [trainer({ cpus: 0.3 })] }),
    never: /pauses|writing|reading|shared/,
  },
});
