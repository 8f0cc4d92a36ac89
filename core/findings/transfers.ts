/** Transfers: copies between host and device that take a large part of the time, and why they are slow. */

import { named } from "../quoted.ts";
import type { CopyWork, DeviceFacts } from "../facts/mod.ts";
import type { Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import {
  computeSeconds,
  digits,
  mean,
  ofDevices,
  percent,
  type WorkedDevice,
  workedDevices,
} from "./measures.ts";
import type { Rule } from "./rule.ts";

/** Below this share of the time copies cost less than changing them would win. */
const SHARE = 0.1;
/** Kernels that leave less of the time than this cover the copies. */
const UNCOVERED_SHARE = 0.05;
/** Bytes below which the start of a copy costs more than its bytes, at 25 GB/s and 10 µs. */
const SMALL_BYTES = 256 * 1024;
/** Share of the link's speed that copies from pinned memory reach; those from pageable memory reach a fourth. */
const PINNED_SHARE = 0.55;
/** Bytes a second of one lane by generation of PCI Express, after encoding (PCI-SIG). */
const LANE_BYTES_PER_SECOND: Readonly<Record<number, number>> = {
  1: 250e6,
  2: 500e6,
  3: 985e6,
  4: 1969e6,
  5: 3938e6,
  6: 7563e6,
};

interface Slow {
  device: WorkedDevice;
  copy: CopyWork;
  share: number;
}

/** The rule. */
export const transfers: Rule = {
  id: "transfers",
  judge(facts): Judgement {
    const all = workedDevices(facts);
    const slow = all.flatMap((device) =>
      device.activity.copies.flatMap((copy): Slow[] => {
        const share = copy.seconds / device.activity.captured_seconds;
        const isCostly = share >= SHARE && 1 - kernelShare(device) >= UNCOVERED_SHARE;
        return /host/.test(copy.name) && isCostly ? [{ device, copy, share }] : [];
      })
    ).sort((a, b) => b.share - a.share);
    const [worst] = slow;
    if (!worst) return NOTHING;
    const devices = [...new Set(slow.map(({ device }) => device))];
    return { ...NOTHING, findings: [finding(worst, devices, all)] };
  },
};

function finding(
  { device, copy, share }: Slow,
  devices: WorkedDevice[],
  all: WorkedDevice[],
): Finding {
  const rate = copy.bytes === null ? null : copy.bytes / copy.seconds;
  const size = copy.bytes === null ? null : copy.bytes / copy.times;
  const link = linkSpeed(device);
  const isSmall = size !== null && size < SMALL_BYTES;
  const isPageable = !isSmall && rate !== null && link !== null && rate < PINNED_SHARE * link;
  const kernels = mean(devices.map(kernelShare));
  const kind = named(copy.name.replaceAll("_", "-"), 40);
  const at = rate === null ? "" : ` at ${digits(rate / 1e9)} GB/s`;
  const reason = isSmall
    ? `in pieces of ${digits(size / 1024)} KiB`
    : isPageable
    ? "as pageable (unpinned) memory does"
    : "near the speed of the link";
  return {
    id: isSmall ? "transfers/small" : isPageable ? "transfers/pageable" : "transfers/link",
    class: "transfer",
    title: `Transfer-bound: ${kind} copies take ${percent(share)} of the time${at}, ${reason}`,
    // Copies that run beside kernels cost nothing; what kernels leave of the time is the most to win.
    share_at_stake: Math.min(share, Math.max(0, 1 - kernels)),
    confidence: rate === null ? "low" : kernels + share > 1.2 ? "medium" : "high",
    doubt: kernels + share > 1.2
      ? "a part of the copies runs beside kernels"
      : isPageable
      ? "that the memory is not pinned is concluded from the rate"
      : "",
    evidence: [
      {
        metric: `${device.activity.source}_memcpy_nanoseconds`,
        tags: { kind: copy.name },
        value: 100 * share,
        unit: "%",
        what: "share of the time in copies of this kind",
      },
      ...(rate === null ? [] : [{
        metric: `${device.activity.source}_memcpy_bytes`,
        tags: { kind: copy.name },
        value: rate / 1e9,
        unit: "GB/s",
        what: "bytes / time of these copies",
      }]),
      ...(link === null ? [] : [{
        metric: "gpu_pcie_link_generation",
        tags: {},
        value: link / 1e9,
        unit: "GB/s",
        what: `speed of the link: generation ${device.pcie.generation}, ${device.pcie.width} lanes`,
      }]),
      ...(size === null ? [] : [{
        metric: `${device.activity.source}_memcpy_bytes`,
        tags: { kind: copy.name },
        value: size / 1e6,
        unit: "MB",
        what: "mean size of a copy",
      }]),
      {
        metric: "gpu_utilization_percent",
        tags: {},
        value: 100 * kernels,
        unit: "%",
        what: "share of the time with a kernel; gpu_busy_nanoseconds counts copies too",
      },
    ],
    remedies: isSmall
      ? [
        "gather small tensors into one buffer and copy it once",
        "keep what is sent again and again on the device",
      ]
      : [
        ...(isPageable
          ? [
            "pin host memory (pin_memory=True, tensor.pin_memory()) and copy with non_blocking=True",
          ]
          : []),
        "send less: uint8 or fp16 instead of fp32, and convert on the device",
        "copy the next batch on a stream of its own while this one is computed",
      ],
    verify: isPageable
      ? `GB/s of ${kind} copies rises to about ${
        digits((link ?? 25e9) * 0.8 / 1e9)
      } and their share falls`
      : `the share of ${kind} copies falls, and the work done a second rises`,
    where: ofDevices(devices, all),
    explains: ["gpu_idle/sync_bound", "gpu_idle/host_bound", "gpu_idle/unexplained"],
  };
}

/** Share of the time with a kernel or a graph: as the driver tells it, else their sum. */
function kernelShare(device: WorkedDevice): number {
  return Math.min(
    1,
    device.utilization?.mean ?? computeSeconds(device) / device.activity.captured_seconds,
  );
}

/** Bytes a second that the link carries; `null` where it is not known. */
export function linkSpeed({ pcie }: DeviceFacts): number | null {
  const lane = LANE_BYTES_PER_SECOND[pcie.generation ?? 0];
  return lane === undefined || pcie.width === null ? null : lane * pcie.width;
}
