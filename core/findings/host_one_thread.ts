/**
 * A saturated thread that feeds an engine from outside of its loop: the API server with its tokenizer. The
 * processes that drive devices are left out: their loops spin also when there is nothing to do.
 */

import type { InstanceFacts, ProcessFacts } from "../facts/mod.ts";
import { metricOf } from "./engine_evidence.ts";
import type { Finding } from "./finding.ts";
import { hostOf, idleShare } from "./host_evidence.ts";
import { busyOf, cpusOf, digits, percent, workedDevices } from "./measures.ts";

/** One thread of Python has one processor at most; a little more goes to threads that need no lock. */
const ONE_THREAD = { from: 0.85, to: 1.3 };

/** Below this idle share of the devices the thread keeps them fed. */
const IDLE_SHARE = 0.15;

/** Loops of engines that spin, by the names of their processes. */
const LOOPS = /EngineCore|Worker|scheduler|detokenizer/i;

/** The finding that the thread before an engine's queue has no time left. */
export function oneThread(facts: InstanceFacts): Finding | null {
  const idle = idleShare(facts);
  if (facts.engines.length === 0 || idle === null || idle < IDLE_SHARE) return null;
  const driving = new Set(workedDevices(facts).flatMap(({ activity }) => activity.pids));
  const [busiest] = facts.processes.filter((process) => isSaturated(process, driving));
  if (!busiest) return null;
  const cpus = cpusOf(busiest)!;
  const [one] = facts.engines;
  const inside = (one!.queue?.mean_seconds ?? 0) + (one!.prefill?.mean_seconds ?? 0);
  const first = one!.first_token?.mean_seconds ?? null;
  const isBefore = first !== null && one!.queue !== null && first > 5 * (inside + 0.1);
  return {
    id: "host/one_thread",
    class: "host",
    title:
      `One thread is full: process ${busiest.pid} (server, tokenizer) uses ${
        digits(cpus)
      } processors and drives no device, while the GPU is idle ${percent(idle)} of the time` +
      (isBefore
        ? `; the first token takes ${digits(first)} s, of which the queue is ${
          digits(one!.queue!.mean_seconds)
        } s: requests wait before they reach the engine`
        : ""),
    share_at_stake: idle,
    confidence: isBefore ? "high" : "medium",
    doubt: isBefore
      ? ""
      : "that the engine waits for this thread is concluded from processor times",
    evidence: [
      {
        metric: "process_user_cpu_seconds",
        tags: { "process.pid": busiest.pid! },
        value: cpus,
        unit: "CPUs",
        what: "processors used by the process: all that one thread can use",
      },
      busyOf(1 - idle),
      ...(first === null ? [] : [{
        metric: metricOf(one!, "first_token"),
        tags: one!.tags,
        value: first,
        unit: "s",
        what: "time to first token, mean",
      }]),
      ...(one!.queue
        ? [{
          metric: metricOf(one!, "queue"),
          tags: one!.tags,
          value: one!.queue.mean_seconds,
          unit: "s",
          what: "time in the engine's own queue, mean",
        }]
        : []),
      ...(one!.running
        ? [{
          metric: metricOf(one!, "running"),
          tags: one!.tags,
          value: one!.running.mean,
          unit: "requests",
          what: "requests worked on, mean",
        }]
        : []),
    ],
    remedies: [
      "more processes for it: vLLM --api-server-count, SGLang --tokenizer-worker-num, or several replicas behind a router",
      "less work for it: send token ids instead of text, shorter prompts, no detailed logging of requests",
    ],
    verify: `py-spy record -p ${busiest.pid} shows what it does; afterwards the busy share rises`,
    where: hostOf(facts),
    explains: [
      "engine/prefill",
      "gpu_idle/host_bound",
      "gpu_idle/sync_bound",
      "gpu_idle/input",
      "gpu_idle/unexplained",
    ],
  };
}

function isSaturated(process: ProcessFacts, driving: ReadonlySet<string>): boolean {
  const { pid, has_ended, command_line } = process;
  const cpus = cpusOf(process);
  return pid !== null && !has_ended && !driving.has(pid) && cpus !== null &&
    cpus >= ONE_THREAD.from && cpus <= ONE_THREAD.to && !LOOPS.test(command_line ?? "");
}
