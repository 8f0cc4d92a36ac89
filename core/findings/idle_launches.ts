/** Launch-bound devices: launching small kernels takes longer than running them. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import {
  base,
  busyEvidence,
  type Idle,
  idleShare,
  kernelEvidence,
  launchEvidence,
  SATURATED_CPUS,
  threadEvidence,
  threadOf,
} from "./idle_devices.ts";
import {
  busyShare,
  computeSeconds,
  digits,
  launchesPerSecond,
  meanKernelSeconds,
  percent,
  sum,
} from "./measures.ts";

/** A kernel shorter than this takes as long to launch as to run: 2 to 10 µs (NVIDIA, "Getting Started with CUDA Graphs"). */
const SHORT_KERNEL_SECONDS = 10e-6;

/** Idle time for each launch up to which launching explains it. */
const LAUNCH_GAP_SECONDS = 30e-6;

/** Time of a launch that a full thread may need: operators of eager frameworks take some ten microseconds. */
const FULL_THREAD_SECONDS = 60e-6;

/** With longer kernels a thread has time to launch ahead. */
const LONGEST_KERNEL_SECONDS = 25e-6;

/** Where more of the GPU's time than this is in graphs, few launches stand for it. */
const GRAPHS_SHARE = 0.2;

/** The finding that launching takes longer than running. */
export function launchBound(facts: InstanceFacts, { device, idle, all }: Idle): Finding | null {
  const kernel = meanKernelSeconds(device);
  const inGraphs = sum(device.activity.graphs.map(({ seconds }) => seconds));
  if (inGraphs > GRAPHS_SHARE * computeSeconds(device)) return null;
  const launches = launchesPerSecond(device);
  const gap = (1 - busyShare(device)) / launches;
  const cpus = threadOf(facts, device);
  const isFull = cpus !== null && cpus >= SATURATED_CPUS;
  const isShort = kernel !== null && kernel <= SHORT_KERNEL_SECONDS && gap <= LAUNCH_GAP_SECONDS;
  const isAtItsPace = isFull && kernel !== null && kernel <= LONGEST_KERNEL_SECONDS &&
    1 / launches <= FULL_THREAD_SECONDS;
  if (!isShort && !isAtItsPace) return null;
  return {
    ...base(idle, all),
    id: "gpu_idle/launch_bound",
    title:
      `Launch-bound: the GPU is idle ${percent(idleShare(idle))} of the time, since launching ` +
      `${digits(launches)} kernels a second of ${
        digits(kernel * 1e6)
      } µs each takes longer than running them`,
    confidence: isFull ? "high" : "medium",
    doubt: cpus === null ? "the processor time of the launching process is not known" : "",
    evidence: [
      busyEvidence(idle),
      launchEvidence(device, launches),
      kernelEvidence(device, kernel),
      ...(device.activity.source === "cuda"
        ? [{
          metric: "cuda_graphs_nanoseconds",
          tags: {},
          value: sum(device.activity.graphs.map(({ times }) => times)),
          unit: "replays",
          what: "graph replays; without graphs each kernel is launched by itself",
        }]
        : []),
      ...threadEvidence(cpus),
    ],
    remedies: [
      'CUDA graphs: torch.cuda.graph, torch.compile(mode="reduce-overhead"), or the engine\'s option for them',
      "torch.compile or another way to fuse the small kernels into fewer",
      "more work in each launch: a larger batch or minibatch, foreach or fused optimizers",
    ],
    verify:
      "launches a second fall and gpu_busy_nanoseconds / profiler_covered_nanoseconds rises; the work done a second must rise too",
    explains: ["small_kernels", "kernels/elementwise", "kernels/latency", "host/one_thread"],
  };
}
