/** Devices that others use: what the driver calls busy, and this run did not do. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import { base, busyEvidence, type Idle } from "./idle_devices.ts";
import { busyShare, launchesPerSecond, percent } from "./measures.ts";

/** Share that the driver calls busy all the time. */
const ALWAYS = 0.95;

/** Share of the time that this run left. */
const LEFT = 0.25;

/** The driver samples; gaps shorter than this between launches may not be seen by it. */
const SEEN_SECONDS = 100e-6;

/** The finding that another program uses the device while this run does not. */
export function shared(_facts: InstanceFacts, { device, idle, all }: Idle): Finding | null {
  const others = idle.filter((one) => {
    const left = 1 - busyShare(one);
    const gap = left / Math.max(1e-9, launchesPerSecond(one));
    return one.utilization !== null && one.utilization.min >= ALWAYS && left >= LEFT &&
      gap >= SEEN_SECONDS;
  });
  if (!others.includes(device)) return null;
  return {
    ...base(others, all),
    id: "gpu_idle/shared",
    class: "device",
    title:
      `Shared device: the driver calls the GPU busy ${
        percent(device.utilization!.mean)
      } of the time, of which this workload accounts for ${percent(busyShare(device))}: ` +
      "another program runs on it",
    confidence: "medium",
    doubt:
      "a kernel of this run that has not ended looks the same; NVML's share may count short gaps as busy",
    evidence: [
      busyEvidence(others),
      {
        metric: "gpu_utilization_percent",
        tags: { "device.uuid": device.uuid },
        value: 100 * device.utilization!.mean,
        unit: "%",
        what: "share of the time with a kernel, of all programs",
      },
      ...(device.memory_used_bytes
        ? [{
          metric: "gpu_memory_used_bytes",
          tags: { "device.uuid": device.uuid },
          value: device.memory_used_bytes.mean / 1e9,
          unit: "GB",
          what: "device memory in use, by all programs",
        }]
        : []),
    ],
    remedies: [
      "move the other program to another device, or reserve this one (exclusive mode, MIG)",
    ],
    verify: "nvidia-smi names the programs on the device; alone, the work done a second rises",
    explains: ["gpu_idle/unexplained"],
  };
}
