/** Runs without a GPU: nothing of one is missing, and what they use of the processors is the answer. */

import type { InstanceFacts } from "../facts/mod.ts";
import { type Judgement, NOTHING } from "./finding.ts";
import { cpusOf } from "./measures.ts";
import type { Rule } from "./rule.ts";

/** Processors that a process uses whose work is in one thread. */
const ONE_THREAD = { from: 0.85, to: 1.15 };

/** The rule. */
export const noGpu: Rule = {
  id: "no_gpu",
  judge(facts): Judgement {
    const { cpu, run_cpus } = facts.host;
    if (!isWithoutGpu(facts) || cpu === null || run_cpus === null) return NOTHING;
    const [busiest] = facts.processes;
    const most = busiest ? cpusOf(busiest) ?? 0 : 0;
    const isOneThread = most >= ONE_THREAD.from && most <= ONE_THREAD.to && run_cpus < 1.5 * most;
    return {
      ...NOTHING,
      sound: [{
        rule: "no_gpu",
        // Without numbers, so that those of many instances fold into one.
        sentence: "on a host without an NVIDIA driver " +
          (isOneThread
            ? "one process uses as much of the processors as one thread can: faster code in it, or its work spread over more processes, makes it faster"
            : "the processors are not all in use"),
        evidence: [
          {
            metric: "process_user_cpu_seconds",
            tags: {},
            value: run_cpus,
            unit: "CPUs",
            what: "processors that all processes of the run use, user and system, ended ones too",
          },
          {
            metric: "host_cpu_usage_percent",
            tags: {},
            value: 100 * cpu.mean,
            unit: "%",
            what: "processors of the host in use, by all programs",
          },
        ],
      }],
    };
  },
};

/** Whether the host has no NVIDIA driver, and nothing shows that a process used a GPU. */
export function isWithoutGpu({ devices, captures }: InstanceFacts): boolean {
  return devices.length === 0 &&
    captures.some(({ capture, is_captured, reason }) =>
      capture === "gpu_devices" && !is_captured && reason?.startsWith("no NVIDIA driver")
    ) &&
    !captures.some(({ capture, of }) => capture === "gpu_kernels" && of !== "");
}
