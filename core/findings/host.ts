/** Host: processors, memory and storage that the workload has to wait for. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Evidence, Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import { busyShare, cpusOf, digits, mean, percent, sum, workedDevices } from "./measures.ts";
import type { Rule } from "./rule.ts";

/** Processors in use above this share leave no room for a thread that becomes ready. */
const SATURATED = 0.9;
/** Share of the time in which tasks stood still from which on it hurts (Linux PSI, `some`). */
const STALLED = 0.15;
/** The same for `full`: nothing at all ran. */
const STALLED_FULL = 0.05;
/** Times a second that a process loses its processor, from which on it is not left alone. */
const INVOLUNTARY_PER_SECOND = 500;

/** The rule. */
export const host: Rule = {
  id: "host",
  judge(facts): Judgement {
    const findings = [processors(facts), memory(facts), storage(facts)];
    return { ...NOTHING, findings: findings.filter((one) => one !== null) };
  },
};

const IDLE = [
  "gpu_idle/sync_bound",
  "gpu_idle/host_bound",
  "gpu_idle/launch_bound",
  "gpu_idle/unexplained",
];

/** Share of the time in which devices waited: the most that a host can cost. */
function idleShare(facts: InstanceFacts): number | null {
  const devices = workedDevices(facts);
  return devices.length > 0 ? 1 - mean(devices.map(busyShare)) : null;
}

function stalled({ host }: InstanceFacts, resource: string, kind: string): number | null {
  return host.stalled.find((one) => one.resource === resource && one.kind === kind)?.share ?? null;
}

function pressure(resource: string, kind: string, share: number | null): Evidence[] {
  return share === null ? [] : [{
    metric: "host_pressure_stall_microseconds",
    tags: { resource, kind },
    value: 100 * share,
    unit: "%",
    what: kind === "full"
      ? "share of the time in which nothing could run for want of it"
      : "share of the time in which some task waited for it",
  }];
}

function processors(facts: InstanceFacts): Finding | null {
  const { cpu, cpus } = facts.host;
  const some = stalled(facts, "cpu", "some");
  if (!cpu || cpu.mean < SATURATED) return null;
  const own = sum(facts.processes.map((one) => cpusOf(one) ?? 0));
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
        metric: "process_cpu_usage_percent",
        tags: {},
        value: 100 * ownShare,
        unit: "%",
        what: "of them by all processes of the workload",
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
      ...(idle === null ? [] : [{
        metric: "gpu_busy_nanoseconds",
        tags: {},
        value: 100 * (1 - idle),
        unit: "%",
        what: "share of the time with work on the device",
      }]),
    ],
    remedies: isOthers
      ? [
        "move or limit the other programs, or reserve processors for this workload (cgroup cpuset, taskset, Kubernetes static CPU policy)",
        "raise its priority (nice, chrt) where they cannot be moved",
      ]
      : [
        "more processors, or fewer workers and threads than there are processors (OMP_NUM_THREADS, num_workers)",
        "move preprocessing to the GPU or to other hosts",
      ],
    verify:
      "host_pressure_stall_microseconds of cpu and involuntary switches fall, and the GPU's busy share rises",
    where: facts.host.name ?? "",
    explains: [...IDLE, "gpu_idle/input", "host/saturated"],
  };
}

function memory(facts: InstanceFacts): Finding | null {
  const { memory_used_bytes: used, memory_total_bytes: total, swap_used_bytes: swap } = facts.host;
  const some = stalled(facts, "memory", "some");
  const full = stalled(facts, "memory", "full");
  const grew = swap ? swap.last - swap.min : 0;
  const isStalled = (some ?? 0) >= STALLED || (full ?? 0) >= STALLED_FULL;
  if (!isStalled && !(used && total && used.mean > 0.97 * total && grew > 0.01 * total)) {
    return null;
  }
  return {
    id: "host/memory",
    class: "memory",
    title:
      `Memory pressure: the host's memory is ${
        used && total ? percent(used.mean / total) : ""
      } full` +
      `${
        swap && swap.mean > 0 ? `, ${digits(swap.mean / 1e9)} GB are swapped out` : ""
      }, and tasks wait for it`,
    share_at_stake: full ?? idleShare(facts) ?? some,
    confidence: isStalled ? "high" : "medium",
    doubt: "",
    evidence: [
      ...(used && total
        ? [{
          metric: "host_memory_usage_bytes",
          tags: {},
          value: 100 * used.mean / total,
          unit: "%",
          what: "of the host's memory in use",
        }]
        : []),
      ...(swap
        ? [{
          metric: "host_swap_usage_bytes",
          tags: {},
          value: swap.mean / 1e9,
          unit: "GB",
          what: "swapped out, mean",
        }]
        : []),
      ...pressure("memory", "some", some),
      ...pressure("memory", "full", full),
    ],
    remedies: [
      "fewer or smaller processes: loader workers, pinned buffers, caches, offloaded weights",
      "a host with more memory",
    ],
    verify: "host_pressure_stall_microseconds of memory falls to 0 and swap does not grow",
    where: facts.host.name ?? "",
    explains: [...IDLE, "gpu_idle/storage", "host/storage"],
  };
}

function storage(facts: InstanceFacts): Finding | null {
  const full = stalled(facts, "io", "full");
  const some = stalled(facts, "io", "some");
  const idle = idleShare(facts);
  if ((full ?? 0) < STALLED_FULL || (some ?? 0) < STALLED) return null;
  if (idle !== null && idle < 0.15) return null;
  const read = sum(facts.host.disks.map((disk) => disk.read_bytes_per_second));
  const written = sum(facts.host.disks.map((disk) => disk.written_bytes_per_second));
  return {
    id: "host/storage",
    class: "host",
    title: `Storage-bound: tasks wait for storage ${percent(some!)} of the time, at ${
      digits(read / 1e6)
    } MB/s read and ${digits(written / 1e6)} MB/s written`,
    share_at_stake: Math.min(full!, idle ?? 1),
    confidence: "medium",
    doubt: "which process waits is not told by the host's pressure",
    evidence: [
      ...pressure("io", "some", some),
      ...pressure("io", "full", full),
      {
        metric: "host_disk_read_bytes",
        tags: {},
        value: read / 1e6,
        unit: "MB/s",
        what: "read from all disks",
      },
      {
        metric: "host_disk_write_bytes",
        tags: {},
        value: written / 1e6,
        unit: "MB/s",
        what: "written to all disks",
      },
      ...(idle === null ? [] : [{
        metric: "gpu_busy_nanoseconds",
        tags: {},
        value: 100 * (1 - idle),
        unit: "%",
        what: "share of the time with work on the device",
      }]),
    ],
    remedies: [
      "data on a local or faster disk, or in memory; larger sequential files; checkpoints written in the background",
      "read further ahead",
    ],
    verify: "host_pressure_stall_microseconds of io falls and the GPU's busy share rises",
    where: facts.host.name ?? "",
    explains: ["gpu_idle/unexplained", "gpu_idle/storage"],
  };
}
