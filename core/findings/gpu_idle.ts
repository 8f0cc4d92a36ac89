/**
 * Idle devices: what keeps them waiting. A device idles because launching costs more than running,
 * because its process waits for each result, because input does not come, or because the process is busy
 * with something else. What is between two pieces of work tells these apart.
 */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Evidence, Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import {
  busyShare,
  cpusOf,
  digits,
  driverOf,
  launchesPerSecond,
  mean,
  meanKernelSeconds,
  ofDevices,
  percent,
  sum,
  type WorkedDevice,
  workedDevices,
} from "./measures.ts";
import type { Rule } from "./rule.ts";

/** Below this share idle time is what steps and batches need to follow each other. */
const IDLE_SHARE = 0.15;
/** A kernel shorter than this takes as long to launch as to run: NVIDIA's CUDA blog on graphs, 2019. */
const SHORT_KERNEL_SECONDS = 10e-6;
/** Idle time for each launch up to which launching explains it. */
const LAUNCH_GAP_SECONDS = 30e-6;
/** Idle time for each wait up to which taking turns explains it. */
const TURN_SECONDS = 20e-3;
/** Waits a second from which on taking turns is a habit, not an end of a batch. */
const TURNS_PER_SECOND = 20;
/** Copies this small carry a value, not data. */
const VALUE_BYTES = 4096;
/** A thread that uses this share of a processor has no time left. */
const SATURATED_CPUS = 0.9;
/** A process that uses less waits for something. */
const WAITING_CPUS = 0.5;

/** The rule. */
export const gpuIdle: Rule = {
  id: "gpu_idle",
  judge(facts): Judgement {
    const all = workedDevices(facts);
    const idle = all.filter((device) => 1 - busyShare(device) >= IDLE_SHARE);
    if (idle.length === 0 || isUnasked(facts)) return NOTHING;
    const [worst] = idle.toSorted((a, b) => busyShare(a) - busyShare(b));
    const causes = [launchBound, syncBound, inputStarved, hostBound];
    for (const cause of causes) {
      const found = cause(facts, { device: worst!, idle, all });
      if (found) return { ...NOTHING, findings: [found] };
    }
    return { ...NOTHING, findings: [unexplained(facts, { device: worst!, idle, all })] };
  },
};

interface Idle {
  /** The device that idles most. */
  device: WorkedDevice;
  /** Those that idle. */
  idle: readonly WorkedDevice[];
  /** Those with work. */
  all: readonly WorkedDevice[];
}

/** Whether an engine has too few requests to be busy: then idling is no fault of it. */
function isUnasked({ engines }: InstanceFacts): boolean {
  return engines.length > 0 &&
    engines.every(({ running, waiting }) =>
      running !== null && running.mean < 1 && (waiting?.mean ?? 0) < 0.1
    );
}

function launchBound(facts: InstanceFacts, { device, idle, all }: Idle): Finding | null {
  const kernel = meanKernelSeconds(device);
  const launches = launchesPerSecond(device);
  const gap = (1 - busyShare(device)) / launches;
  if (kernel === null || kernel > SHORT_KERNEL_SECONDS || gap > LAUNCH_GAP_SECONDS) return null;
  const cpus = threadOf(facts, device);
  return {
    ...base(idle, all),
    id: "gpu_idle/launch_bound",
    title:
      `Launch-bound: the GPU is idle ${percent(idleShare(idle))} of the time, since launching ` +
      `${digits(launches)} kernels a second of ${
        digits(kernel * 1e6)
      } µs each takes longer than running them`,
    confidence: cpus !== null && cpus >= SATURATED_CPUS ? "high" : "medium",
    doubt: cpus === null ? "the processor time of the launching process is not known" : "",
    evidence: [
      busyEvidence(idle),
      launchEvidence(launches),
      kernelEvidence(kernel),
      {
        metric: "cuda_graphs_nanoseconds",
        tags: {},
        value: sum(device.activity.graphs.map(({ times }) => times)),
        unit: "replays",
        what: "graph replays; without graphs each kernel is launched by itself",
      },
      ...threadEvidence(cpus),
    ],
    remedies: [
      'CUDA graphs: torch.cuda.graph, torch.compile(mode="reduce-overhead"), or the engine\'s option for them',
      "torch.compile or another way to fuse the small kernels into fewer",
      "more work in each launch: a larger batch or minibatch, foreach or fused optimizers",
    ],
    verify:
      "launches a second fall and gpu_busy_nanoseconds / profiler_covered_nanoseconds rises; the work done a second must rise too",
    explains: ["small_kernels", "host_cpu/one_thread"],
  };
}

function syncBound(facts: InstanceFacts, { device, idle, all }: Idle): Finding | null {
  const { activity } = device;
  const seconds = activity.captured_seconds;
  const waits = activity.waits.filter(({ name }) => name !== "stream_wait_event");
  const perSecond = sum(waits.map(({ times }) => times)) / seconds;
  const gap = (1 - busyShare(device)) / perSecond;
  if (!(perSecond >= TURNS_PER_SECOND) || gap > TURN_SECONDS) return null;
  const values = activity.copies.filter(({ name, bytes, times }) =>
    /to_host$/.test(name) && bytes !== null && bytes / times <= VALUE_BYTES
  );
  const reads = sum(values.map(({ times }) => times)) / seconds;
  const cpus = threadOf(facts, device);
  return {
    ...base(idle, all),
    id: "gpu_idle/sync_bound",
    title:
      `Synchronization-bound: the host waits for the GPU ${
        digits(perSecond)
      } times a second, so that both take ` +
      `turns, and the GPU is idle ${percent(idleShare(idle))} of the time`,
    confidence: reads >= 0.5 * perSecond ? "high" : "medium",
    doubt: reads >= 0.5 * perSecond
      ? ""
      : "waits may also be what ends each batch; few small copies to the host go with them",
    evidence: [
      busyEvidence(idle),
      {
        metric: `${activity.source}_sync_nanoseconds`,
        tags: {},
        value: perSecond,
        unit: "waits/s",
        what: "waits of the host's threads for the device",
      },
      {
        metric: `${activity.source}_sync_nanoseconds`,
        tags: {},
        value: 100 * sum(waits.map((wait) => wait.seconds)) / seconds,
        unit: "%",
        what: "share of the time in which a thread waited",
      },
      {
        metric: `${activity.source}_memcpy_nanoseconds`,
        tags: { kind: "device_to_host" },
        value: reads,
        unit: "copies/s",
        what: `copies to the host of at most ${VALUE_BYTES} bytes, as .item() and .cpu() make`,
      },
      {
        metric: "gpu_busy_nanoseconds",
        tags: {},
        value: gap * 1e6,
        unit: "µs",
        what: "idle time for each wait",
      },
      ...threadEvidence(cpus),
    ],
    remedies: [
      "keep losses and metrics on the device, and read them every N steps only",
      "remove .item(), .cpu(), .nonzero(), print of tensors and torch.cuda.synchronize() from the step",
      "copy to pinned memory with non_blocking=True, and read it a step later",
    ],
    verify:
      'torch.cuda.set_sync_debug_mode("warn") names the calls; afterwards waits a second fall and the busy share rises',
    explains: ["gpu_idle/host_bound", "transfers/small"],
  };
}

function inputStarved(facts: InstanceFacts, { device, idle, all }: Idle): Finding | null {
  const driver = driverOf(facts, device);
  const cpus = driver && cpusOf(driver);
  if (driver === null || cpus === null || cpus >= WAITING_CPUS) return null;
  const workers = facts.processes.filter((process) =>
    !process.has_ended && process.parent_pid === driver.pid && (cpusOf(process) ?? 0) >= 0.7
  );
  const read = sum(facts.host.disks.map((disk) => disk.read_bytes_per_second));
  const io = facts.host.stalled.find(({ resource, kind }) => resource === "io" && kind === "some")
    ?.share ?? 0;
  const iowait = facts.host.cpu_modes.iowait?.mean ?? 0;
  const isStorage = io >= 0.2 || iowait >= 0.1;
  if (workers.length === 0 && !isStorage) return null;
  return {
    ...base(idle, all),
    id: isStorage ? "gpu_idle/storage" : "gpu_idle/input",
    title: isStorage
      ? `Input-starved: the GPU is idle ${
        percent(idleShare(idle))
      } of the time, while work stands still for storage`
      : `Input-starved: the GPU is idle ${
        percent(idleShare(idle))
      } of the time, while ${workers.length} loader ` +
        "processes work without pause and the training process waits",
    confidence: "medium",
    doubt: "that the process waits for its loaders is concluded from processor times",
    evidence: [
      busyEvidence(idle),
      {
        metric: "process_user_cpu_seconds",
        tags: { "process.pid": driver.pid! },
        value: cpus,
        unit: "CPUs",
        what: "processors used by the process that feeds the GPU: it waits",
      },
      {
        metric: "process_user_cpu_seconds",
        tags: {},
        value: sum(workers.map((one) => cpusOf(one) ?? 0)),
        unit: "CPUs",
        what: `processors used by its ${workers.length} busy children`,
      },
      {
        metric: "host_disk_read_bytes",
        tags: {},
        value: read / 1e6,
        unit: "MB/s",
        what: "read from all disks",
      },
      {
        metric: "host_pressure_stall_microseconds",
        tags: { resource: "io", kind: "some" },
        value: 100 * io,
        unit: "%",
        what: "share of the time in which some task waited for storage",
      },
    ],
    remedies: isStorage
      ? [
        "stage the data on a local or faster disk, or in memory; store it in fewer, larger, sequential files",
        "read further ahead: more loader processes, a larger prefetch_factor",
      ]
      : [
        "more loader processes (num_workers) while processors are left, with persistent_workers and a larger prefetch_factor",
        "decode and augment on the GPU (DALI, torchvision v2 on the device), or store decoded data",
      ],
    verify:
      "time the loop with the loader alone, and with one batch used again and again: the first is as slow, the second is fast",
    explains: ["gpu_idle/host_bound", "host_io", "host_cpu/saturated"],
  };
}

function hostBound(facts: InstanceFacts, { device, idle, all }: Idle): Finding | null {
  const cpus = threadOf(facts, device);
  if (cpus === null || cpus < SATURATED_CPUS) return null;
  const launches = launchesPerSecond(device);
  return {
    ...base(idle, all),
    id: "gpu_idle/host_bound",
    title: `Host-bound: the GPU is idle ${
      percent(idleShare(idle))
    } of the time, while the process that feeds it uses a whole processor`,
    confidence: "medium",
    doubt: "which code takes the processor's time is not measured; an engine's scheduler may spin",
    evidence: [
      busyEvidence(idle),
      ...threadEvidence(cpus),
      launchEvidence(launches),
    ],
    remedies: [
      "profile the process (py-spy record -p PID, perf) and move work out of the loop that launches",
      "CUDA graphs or torch.compile: fewer launches for the same work",
      "larger batches: the host's work for a step is the same",
    ],
    verify:
      "py-spy dump shows what the thread does while the GPU idles; the busy share rises after the change",
    explains: ["host_cpu/one_thread"],
  };
}

function unexplained(_facts: InstanceFacts, { device, idle, all }: Idle): Finding {
  return {
    ...base(idle, all),
    id: "gpu_idle/unexplained",
    title: `The GPU is idle ${
      percent(idleShare(idle))
    } of the time; what it waits for is not in the data`,
    confidence: "low",
    doubt:
      "neither launches, waits, input nor a full processor explain it: it may be a lack of requests, the network, or sleep",
    evidence: [busyEvidence(idle), launchEvidence(launchesPerSecond(device))],
    remedies: ["none before the cause is known"],
    verify: "py-spy dump --pid of the process that feeds the GPU, several times while it idles",
    explains: [],
  };
}

/** Processors used by the busiest process with work on the device; one thread has one at most. */
function threadOf(facts: InstanceFacts, device: WorkedDevice): number | null {
  const driver = driverOf(facts, device);
  return driver && cpusOf(driver);
}

function idleShare(idle: readonly WorkedDevice[]): number {
  return 1 - mean(idle.map(busyShare));
}

function base(idle: readonly WorkedDevice[], all: readonly WorkedDevice[]) {
  return {
    class: "starved" as const,
    share_at_stake: idleShare(idle) * idle.length / all.length,
    where: ofDevices(idle, all),
  };
}

function busyEvidence(devices: readonly WorkedDevice[]): Evidence {
  return {
    metric: "gpu_busy_nanoseconds",
    tags: {},
    value: 100 * mean(devices.map(busyShare)),
    unit: "%",
    what: devices.length > 1
      ? `share of the time with work on the device, mean of ${devices.length}`
      : "share of the time with work on the device",
  };
}

function launchEvidence(value: number): Evidence {
  return {
    metric: "cuda_kernels_nanoseconds",
    tags: {},
    value,
    unit: "launches/s",
    what: "kernels and graphs launched, a device",
  };
}

function kernelEvidence(seconds: number): Evidence {
  return {
    metric: "cuda_kernel_duration_nanoseconds",
    tags: {},
    value: seconds * 1e6,
    unit: "µs",
    what: "mean length of a kernel",
  };
}

function threadEvidence(cpus: number | null): Evidence[] {
  return cpus === null ? [] : [{
    metric: "process_user_cpu_seconds",
    tags: {},
    value: cpus,
    unit: "CPUs",
    what: "processors used by the process that launches, user and system",
  }];
}
