/**
 * Latency-bound kernels: a device that is busy all the time, while its multiprocessors are mostly empty or
 * wait, and neither memory nor arithmetic is used.
 */

import { named } from "../quoted.ts";
import type { Finding } from "./finding.ts";
import {
  busyOf,
  busyShare,
  categorySeconds,
  computeSeconds,
  mean,
  ofDevices,
  percent,
  type WorkedDevice,
} from "./measures.ts";

/** The device is busy in this share of the time at least. */
const BUSY = 0.8;

/** All of memory, tensor cores and fp32 below this share of their peak: nothing is used. */
const UNUSED = 0.3;

/** The same where the multiprocessors have work: then it waits all the time. */
const UNUSED_BY_WORK = 0.15;

/** Share of the multiprocessors with work below which a kernel has too few blocks to fill the device. */
const EMPTY = 0.5;

/** The finding that kernels leave the device empty while it is busy. */
export function latency(all: readonly WorkedDevice[]): Finding | null {
  const found = all.filter(isEmpty);
  if (found.length === 0) return null;
  const [first] = found;
  const sm = mean(found.map((device) => (device.sm!.mean) / kernelShare(device)));
  const isSmall = sm < EMPTY;
  const share = mean(found.map(kernelShare));
  const largest = first!.activity.kernels.find(({ category }) => category !== "collective");
  return {
    id: "kernels/latency",
    class: "kernel",
    title: `Latency-bound: the GPU is busy ${percent(mean(found.map(busyShare)))} of the time, ` +
      (isSmall
        ? `but only ${
          percent(sm)
        } of its multiprocessors have work: kernels have too few threads to fill it`
        : `but what runs mostly waits: neither memory nor arithmetic is used much`) +
      (largest
        ? `; most of the time is in ${named(largest.short)} (${
          percent(largest.seconds / first!.activity.captured_seconds)
        })`
        : ""),
    share_at_stake: share * (isSmall ? 1 - sm : 0.5),
    confidence: "medium",
    doubt: "the shares are means of all kernels: one that fills the device may hide among them" +
      (isSmall ? "" : "; what is at stake assumes kernels that take half of the time"),
    evidence: [
      {
        metric: "gpu_sm_utilization_percent",
        tags: {},
        value: 100 * mean(found.map((device) => device.sm!.mean)),
        unit: "%",
        what: "multiprocessors with work",
      },
      ...(first!.occupancy
        ? [{
          metric: "gpu_sm_occupancy_percent",
          tags: {},
          value: 100 * mean(found.map((device) => device.occupancy?.mean ?? 0)),
          unit: "%",
          what: "resident warps of the most possible",
        }]
        : []),
      {
        metric: "gpu_tensor_utilization_percent",
        tags: {},
        value: 100 * mean(found.map((device) => device.tensor!.mean)),
        unit: "%",
        what: "tensor cores in use",
      },
      {
        metric: "gpu_dram_bandwidth_utilization_percent",
        tags: {},
        value: 100 * mean(found.map((device) => device.dram!.mean)),
        unit: "%",
        what: "memory bandwidth in use",
      },
      busyOf(mean(found.map(busyShare)), "share of the time with work"),
    ],
    remedies: [
      "more parallel work in a launch: a larger batch, or independent work on other streams or by MPS",
      "a parallel algorithm for what runs in few blocks (scan, search, recurrence)",
    ],
    verify:
      "Nsight Compute on the largest kernel: blocks, waves and stall reasons; afterwards gpu_sm_utilization_percent rises",
    where: ofDevices(found, all),
    explains: ["kernels/dominating"],
  };
}

/** Share of the time in kernels that could fill the device: those of collectives do not mean to. */
function kernelShare(device: WorkedDevice): number {
  const own = computeSeconds(device) - categorySeconds(device, "collective");
  return Math.max(1e-6, Math.min(busyShare(device), own / device.activity.captured_seconds));
}

function isEmpty(device: WorkedDevice): boolean {
  const { sm, tensor, dram, fp32 } = device;
  if (!sm || !tensor || !dram || busyShare(device) < BUSY) return false;
  const share = kernelShare(device);
  if (share < 0.5 * BUSY) return false;
  const used = Math.max(tensor.mean, dram.mean, fp32?.mean ?? 0) / share;
  return used < (sm.mean / share < EMPTY ? UNUSED : UNUSED_BY_WORK);
}
