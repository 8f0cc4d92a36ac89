/** Parts of the kernels: some kernels of all devices, their share, and what a faster kind would win. */

import type { KernelWork } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import { digits, mean, ofDevices, percent, sum, type WorkedDevice } from "./measures.ts";

/** Kernels below this share of the GPU's time are not worth a change. */
export const SHARE = 0.1;

/** Generation that a symbol was built for. */
const BUILT_FOR = /sm_?(\d{2,3})(?!\d)|(volta|turing|ampere|hopper|blackwell)/i;

const GENERATION: Readonly<Record<string, number>> = {
  volta: 70,
  turing: 75,
  ampere: 80,
  hopper: 90,
  blackwell: 100,
};

/** Kernels that are meant, and their share of the time of a device: the mean of all devices. */
export interface Part {
  share: number;
  kernels: KernelWork[];
  devices: readonly WorkedDevice[];
}

/** The kernels that `isMeant` picks, on all devices. */
export function part(
  devices: readonly WorkedDevice[],
  isMeant: (kernel: KernelWork, device: WorkedDevice) => boolean,
): Part {
  const shares = devices.map((device) =>
    sum(
      device.activity.kernels.filter((kernel) => isMeant(kernel, device)).map(({ seconds }) =>
        seconds
      ),
    ) /
    device.activity.captured_seconds
  );
  const [first] = devices;
  return {
    share: Math.min(1, mean(shares)),
    kernels: first!.activity.kernels.filter((kernel) => isMeant(kernel, first!)),
    devices,
  };
}

/** Compute capability as one number: 90 for 9.0; `null` where it is not told. */
export function capability({ attributes }: WorkedDevice): number | null {
  const [major, minor = "0"] = (attributes["device.compute_capability"] ?? "").split(".");
  return major ? Number(major) * 10 + Number(minor) : null;
}

/** Generation that a kernel's symbol says it was built for. */
export function builtFor(name: string): number | null {
  const match = BUILT_FOR.exec(name);
  return match ? Number(match[1] ?? GENERATION[match[2]!.toLowerCase()]) : null;
}

/** A finding about a part of the kernels. */
export function finding(
  { share, kernels, devices }: Part,
  { gain, doubt, ...rest }:
    & Pick<Finding, "id" | "title" | "remedies" | "verify" | "confidence" | "doubt">
    & {
      /** Share of the kernels' time that a faster kind saves. */
      gain: number;
    },
): Finding {
  const [first] = devices;
  return {
    ...rest,
    class: "kernel",
    share_at_stake: share * gain,
    doubt: `${doubt && `${doubt}; `}what is at stake assumes kernels that take ${
      percent(1 - gain)
    } of the time of these`,
    evidence: [
      {
        metric: `${first!.activity.source}_kernels_nanoseconds`,
        tags: {},
        value: 100 * share,
        unit: "%",
        what: "share of the time in these kernels",
      },
      ...kernels.slice(0, 2).map((kernel) => ({
        metric: `${first!.activity.source}_kernels_nanoseconds`,
        tags: { frame: kernel.short },
        value: kernel.seconds / kernel.times * 1e6,
        unit: "µs",
        what: `mean length (${
          digits(kernel.times / first!.activity.captured_seconds)
        } launches/s, ${percent(kernel.seconds / first!.activity.captured_seconds)} of the time)`,
      })),
      ...(first!.tensor
        ? [{
          metric: "gpu_tensor_utilization_percent",
          tags: {},
          value: 100 * mean(devices.map(({ tensor }) => tensor?.mean ?? 0)),
          unit: "%",
          what: "tensor cores in use",
        }]
        : []),
      ...(first!.dram
        ? [{
          metric: "gpu_dram_bandwidth_utilization_percent",
          tags: {},
          value: 100 * mean(devices.map(({ dram }) => dram?.mean ?? 0)),
          unit: "%",
          what: "memory bandwidth in use",
        }]
        : []),
    ],
    where: ofDevices(devices, devices),
    explains: ["kernels/latency", "kernels/dominating"],
  };
}
