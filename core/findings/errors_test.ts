/** Errors that stop work come before everything else. */

import { testFindings } from "./testdata/judged.ts";
import type { Load, ProcessLoad } from "./testdata/load.ts";
import { a100, SYMBOLS, trainer, training, work } from "./testdata/workloads.ts";

const error = { class: "error", stake: null } as const;

/** Training that prints a message in step 20, at another place than its noise. */
function printing(message: string, level: "error" | "warning" = "error"): (step: number) => Load {
  return (step) =>
    training(step === 20 ? { errors: [{ level, message, tags: { "process.pid": "100" } }] } : {});
}

/** The same command again and again, a minute each. */
function starting(times: number, message: string): (step: number) => Load {
  return (step) => {
    const life = 300 / times;
    const at = Math.floor(step * 10 / life);
    const process: ProcessLoad = trainer({
      pid: 100 + at,
      command: "python finetune.py",
      lives: [at * life, (at + 1) * life - 1],
    });
    return training({
      devices: [
        a100({
          pid: 100 + at,
          kernels: [work(SYMBOLS.gemm_ampere, 0.03, 900)],
          gauges: { utilization_percent: 4 },
        }),
      ],
      processes: [process],
      errors: step % (life / 10) === life / 10 - 1
        ? [{ level: "error", message, tags: { "process.pid": String(100 + at) } }]
        : [],
    });
  };
}

testFindings({
  "device memory ran out": {
    load: printing("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
    ...error,
    id: "errors/out_of_memory",
  },
  "the system killed a process": {
    load: printing("Out of memory: Killed process 4711 (python)"),
    ...error,
    id: "errors/killed",
  },
  "a collective timed out": {
    load: printing("[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8)"),
    ...error,
    id: "errors/collective_timeout",
  },
  "a device failed": {
    load: printing("NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus."),
    ...error,
    id: "errors/device_fault",
  },
  "a process crashed": {
    load: printing("Fatal Python error: Segmentation fault"),
    ...error,
    id: "errors/crash",
  },
  "a command that ends and is started again": {
    load: starting(6, "RuntimeError: config not found"),
    ...error,
    id: "errors/restarts",
  },
  "a start that runs out of memory each time: the cause, not the restarts": {
    load: starting(6, "torch.OutOfMemoryError: CUDA out of memory."),
    ...error,
    id: "errors/out_of_memory",
  },
}, {
  "a warning that says nothing": {
    load: printing("UserWarning: CUDA out of memory is handled by the caller", "warning"),
    never: /^errors/,
  },
  "an error that stops nothing": {
    load: printing("ERROR: could not reach the tracker"),
    never: /^errors/,
  },
  "a command that was started twice": {
    load: starting(2, "KeyboardInterrupt"),
    never: /restarts/,
  },
});
