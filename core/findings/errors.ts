/** Errors that stop work: out of memory, lost devices and peers, processes that end again and again. */

import { named } from "../quoted.ts";
import type { ErrorEntry } from "../entries.ts";
import type { InstanceFacts, ProcessFacts } from "../facts/mod.ts";
import type { Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import { digits } from "./measures.ts";
import type { Rule } from "./rule.ts";

/** Kinds of errors that stop work. */
const KINDS: readonly { id: string; name: string; pattern: RegExp; remedies: string[] }[] = [
  {
    id: "out_of_memory",
    name: "GPU memory ran out",
    pattern:
      /CUDA out of memory|OutOfMemoryError|CUDA_ERROR_OUT_OF_MEMORY|HIP out of memory|RESOURCE_EXHAUSTED|cudaErrorMemoryAllocation/,
    remedies: [
      "a smaller batch or shorter sequences, activation checkpointing, sharded optimizer state",
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True where much is reserved and not allocated",
    ],
  },
  {
    id: "killed",
    name: "the system ran out of memory and killed a process",
    pattern: /Out of memory: Killed process|oom-kill|OOMKilled/,
    remedies: [
      "less memory on the host: fewer loader workers, smaller caches",
      "a higher limit of the container",
    ],
  },
  {
    id: "collective_timeout",
    name: "a collective timed out: a rank is gone or stands still",
    pattern:
      /Watchdog caught collective operation timeout|NCCL (?:operation|communicator).*(?:timeout|timed out)|ncclSystemError|ncclRemoteError|ncclUnhandledCudaError/,
    remedies: [
      "find the rank whose last message is oldest: it, not the one that complains, is the cause",
      "NCCL_DEBUG=INFO, TORCH_NCCL_TRACE_BUFFER_SIZE for the flight recorder",
    ],
  },
  {
    id: "device_fault",
    name: "the device failed or a kernel read outside of its memory",
    pattern:
      /\bXid\b|illegal memory access|CUDA_ERROR_ILLEGAL|device-side assert|uncorrectable ECC|GPU has fallen off the bus|unspecified launch failure/i,
    remedies: [
      "CUDA_LAUNCH_BLOCKING=1 and compute-sanitizer name the kernel",
      "the same work on another device, to tell hardware from program",
    ],
  },
  {
    id: "crash",
    name: "a process crashed",
    pattern:
      /Segmentation fault|SIGSEGV|core dumped|terminate called|Fatal Python error|Engine (?:core )?(?:process |proc )?.*(?:died|dead)|EngineDeadError/,
    remedies: ["the traceback beside the message; faulthandler or a core file where there is none"],
  },
];

/** Starts of the same command within a span from which on it is a loop. */
const STARTS = 3;
const NS_A_SECOND = 1e9;

/** The rule. */
export const errors: Rule = {
  id: "errors",
  judge(facts): Judgement {
    const loop = crashLoop(facts);
    const findings = [...(loop ? [loop] : []), ...stopping(facts)];
    return { ...NOTHING, findings };
  },
};

function stopping(facts: InstanceFacts): Finding[] {
  return KINDS.flatMap(({ id, name, pattern, remedies }): Finding[] => {
    const found = facts.errors.filter((entry) =>
      entry.level === "error" && pattern.test(textOf(entry))
    );
    const [newest] = found;
    if (!newest) return [];
    const times = found.reduce((sum, { tags }) => sum + (Number(tags?.count) || 1), 0);
    const ago = Number(facts.span.ran.to_ns - newest.log_ns) / NS_A_SECOND;
    return [{
      id: `errors/${id}`,
      class: "error",
      title: `Error: ${name}, ${digits(times)} ${times === 1 ? "time" : "times"}, last ${
        digits(Math.max(0, ago))
      } s before the end of the span`,
      share_at_stake: null,
      confidence: "high",
      doubt: "",
      evidence: [
        {
          metric: "errors",
          tags: newest.tags ?? {},
          value: times,
          unit: "times",
          what: "see the section of errors for the message",
        },
      ],
      remedies,
      verify: "the message does not come again",
      where: newest.tags?.["process.pid"] ? `process ${named(newest.tags["process.pid"], 20)}` : "",
      explains: ["errors/restarts", "gpu_idle/pauses"],
    }];
  });
}

function textOf({ message, exception }: ErrorEntry): string {
  return `${message}\n${exception}`;
}

/** The same command, started one after the other: a supervisor that restarts what ends. */
function crashLoop(facts: InstanceFacts): Finding | null {
  const known = facts.processes.filter(({ command_line, pid }) =>
    command_line !== null && pid !== null
  );
  const byCommand = Map.groupBy(known, ({ command_line }) => command_line);
  const loops = [...byCommand].filter(([, processes]) => {
    const ended = processes.filter(({ has_ended }) => has_ended).length;
    return ended >= STARTS - 1 && processes.length - ended <= 1 && hasErrors(facts, processes);
  }).sort(([, a], [, b]) => b.length - a.length);
  const [loop] = loops;
  if (!loop) return null;
  const [, processes] = loop;
  return {
    id: "errors/restarts",
    class: "error",
    title:
      `Restart loop: the same command was started ${processes.length} times, and ended with errors each time`,
    share_at_stake: null,
    confidence: "medium",
    doubt: "a program that is meant to run again and again looks the same",
    evidence: [
      {
        metric: "process_user_cpu_seconds",
        tags: {},
        value: processes.length,
        unit: "starts",
        what: "processes of this command, one after the other",
      },
      {
        metric: "errors",
        tags: {},
        value: facts.errors.length,
        unit: "entries",
        what: "errors and warnings of the run",
      },
    ],
    remedies: ["mend the first error of a start: later ones are consequences"],
    verify: "one process lives on",
    where: "",
    explains: ["gpu_idle/unexplained", "gpu_idle/pauses", "gpu_idle/host_bound", "no_load"],
  };
}

function hasErrors({ errors }: InstanceFacts, processes: readonly ProcessFacts[]): boolean {
  const pids = new Set(processes.map(({ pid }) => pid));
  return errors.some(({ level, tags }) =>
    level === "error" && (!tags?.["process.pid"] || pids.has(tags["process.pid"]))
  );
}
