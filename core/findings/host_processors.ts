/** Processors of the host that the workload, or others, use up. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import { gained, hostOf, IDLE, idleShare, pressure, STALLED, stalled } from "./host_evidence.ts";
import { busyOf, digits, percent } from "./measures.ts";

/** Processors in use above this share leave no room for a thread that becomes ready. */
const SATURATED = 0.9;

/** Times a second that a process loses its processor, from which on it is not left alone. */
const INVOLUNTARY_PER_SECOND = 500;

/** The finding that processors are used up, by the workload or by others. */
export function processors(facts: InstanceFacts): Finding | null {
  const { cpu, cpus, run_cpus: own } = facts.host;
  const some = stalled(facts, "cpu", "some");
  if (!cpu || cpu.mean < SATURATED || own === null) return null;
  const ownShare = cpus ? own / cpus : null;
  const isOthers = ownShare !== null && ownShare < 0.5 * cpu.mean;
  const [interrupted] = facts.processes.toSorted((a, b) =>
    (b.involuntary_switches_per_second ?? 0) - (a.involuntary_switches_per_second ?? 0)
  );
  const switches = interrupted?.involuntary_switches_per_second ?? 0;
  const idle = idleShare(facts);
  const isFelt = (some ?? 0) >= STALLED || switches >= INVOLUNTARY_PER_SECOND;
  return {
    id: isOthers ? "host/neighbours" : "host/saturated",
    class: "host",
    title: isOthers
      ? `CPU contention: the host's processors are ${
        percent(cpu.mean)
      } busy, of which this workload uses ${percent(ownShare)}: other programs take them` +
        (switches >= INVOLUNTARY_PER_SECOND
          ? `, and its busiest thread loses its processor ${digits(switches)} times a second`
          : "")
      : `CPU-bound: the workload uses ${digits(own)} of ${cpus ?? "?"} processors, the host is ${
        percent(cpu.mean)
      } busy`,
    share_at_stake: idle ?? some,
    confidence: isFelt ? "high" : "low",
    doubt: isFelt ? "" : "no task waits long for a processor",
    evidence: [
      {
        metric: "host_cpu_usage_percent",
        tags: {},
        value: 100 * cpu.mean,
        unit: "%",
        what: "processors of the host in use",
      },
      ...(ownShare === null ? [] : [{
        metric: "process_user_cpu_seconds",
        tags: {},
        value: 100 * ownShare,
        unit: "%",
        what: "of them by all processes of the workload, user and system, ended ones too",
      }]),
      ...pressure("cpu", "some", some),
      ...(interrupted?.pid
        ? [{
          metric: "process_context_switches_involuntary_total",
          tags: { "process.pid": interrupted.pid },
          value: switches,
          unit: "times/s",
          what: "its processor is taken from it",
        }]
        : []),
      ...(idle === null ? [] : [busyOf(1 - idle)]),
    ],
    remedies: isOthers
      ? [
        "move or limit the other programs, or reserve processors for this workload (cgroup cpuset, taskset, Kubernetes static CPU policy)",
        "raise its priority (nice, chrt) where they cannot be moved",
      ]
      : [
        "more processors, or fewer workers and threads than there are processors (OMP_NUM_THREADS, num_workers)",
        idle === null
          ? "spread the work over more hosts"
          : "move preprocessing to the GPU or to other hosts",
      ],
    verify: `host_pressure_stall_microseconds of cpu and involuntary switches fall, and ${
      gained(idle)
    }`,
    where: hostOf(facts),
    explains: [...IDLE, "gpu_idle/input", "host/saturated"],
  };
}
