/**
 * Small kernels on a device that is not idle by them: each has to begin and to end, with most of the
 * device empty meanwhile.
 */

import type { Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import {
  busyOf,
  busyShare,
  digits,
  mean,
  ofDevices,
  percent,
  sum,
  type WorkedDevice,
  workedDevices,
} from "./measures.ts";
import type { Rule } from "./rule.ts";

/** Mean time of a kernel below which beginning and ending are a large part of it. */
const SHORT_SECONDS = 6e-6;

/** Beginning and ending of a kernel: an empty one takes 1.5 to 2 µs (NVIDIA, "Getting Started with CUDA Graphs"). */
const FIXED_SECONDS = 1.5e-6;

/** Share of the time in short kernels from which on they decide the speed. */
const STORM_SHARE = 0.4;

/** The device is busy: where it idles, launching is what costs. */
const BUSY = 0.85;

/** The rule. */
export const smallKernels: Rule = {
  id: "small_kernels",
  judge(facts): Judgement {
    const all = workedDevices(facts);
    // Taken apart, the kernels of a graph look like kernels that are launched one by one.
    const found = all.filter((device) =>
      device.activity.graph_trace_mode !== 1 && busyShare(device) >= BUSY &&
      shortShare(device) >= STORM_SHARE
    );
    return found.length > 0 ? { ...NOTHING, findings: [finding(found, all)] } : NOTHING;
  },
};

function short({ activity }: WorkedDevice) {
  return activity.kernels.filter(({ seconds, times }) => seconds < SHORT_SECONDS * times);
}

function shortShare(device: WorkedDevice): number {
  return sum(short(device).map(({ seconds }) => seconds)) / device.activity.captured_seconds;
}

function finding(found: readonly WorkedDevice[], all: readonly WorkedDevice[]): Finding {
  const [first] = found;
  const share = Math.min(1, mean(found.map(shortShare)));
  const times = sum(short(first!).map((kernel) => kernel.times));
  const perSecond = times / first!.activity.captured_seconds;
  const seconds = sum(short(first!).map((kernel) => kernel.seconds)) / times;
  return {
    id: "small_kernels",
    class: "kernel",
    title: `Small kernels: ${percent(share)} of the time is in kernels of ${
      digits(seconds * 1e6)
    } µs, ${
      digits(perSecond)
    } a second, of which a large part is only their beginning and end; the GPU is busy and mostly empty`,
    share_at_stake: Math.min(share, perSecond * FIXED_SECONDS),
    confidence: "medium",
    doubt:
      "what a kernel's beginning and end cost is not measured here, but known of empty kernels",
    evidence: [
      {
        metric: `${first!.activity.source}_kernels_nanoseconds`,
        tags: {},
        value: 100 * share,
        unit: "%",
        what: `share of the time in kernels that take less than ${digits(SHORT_SECONDS * 1e6)} µs`,
      },
      {
        metric: `${first!.activity.source}_kernels_nanoseconds`,
        tags: {},
        value: perSecond,
        unit: "launches/s",
        what: "such kernels",
      },
      {
        metric: `${first!.activity.source}_kernels_nanoseconds`,
        tags: {},
        value: seconds * 1e6,
        unit: "µs",
        what: "their mean length",
      },
      busyOf(mean(found.map(busyShare))),
    ],
    remedies: [
      "fuse them: torch.compile, fused or foreach optimizers, fused layers",
      'CUDA graphs: torch.cuda.graph, torch.compile(mode="reduce-overhead"), or the engine\'s option for them',
      "more work in each kernel: a larger batch",
    ],
    verify: "launches for the same work fall, and the work done a second rises",
    where: ofDevices(found, all),
    explains: ["kernels/elementwise", "kernels/latency", "kernels/dominating"],
  };
}
