/** Hangs: kernels that never end. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import { BASE } from "./hardware_base.ts";
import { busyShare, deviceName, ofDevices, percent, workedDevices } from "./measures.ts";

/** A device that its driver calls busy while nothing of the run is recorded on it. */
const SPINNING = { utilization: 0.9, busy: 0.05 };

/** The finding that a kernel never ends. */
export function hang(facts: InstanceFacts): Finding | null {
  const all = workedDevices(facts);
  const bad = all.filter((one) =>
    one.utilization !== null && one.utilization.mean >= SPINNING.utilization &&
    busyShare(one) <= SPINNING.busy
  );
  const [worst] = bad;
  if (!worst) return null;
  return {
    ...BASE,
    id: "hardware/hang",
    class: "error",
    title:
      `Hang: the driver calls ${ofDevices(bad, all)} ${
        percent(worst.utilization!.mean)
      } busy, while no kernel ended there: ` +
      "one runs without end, as a collective does whose peer is gone",
    share_at_stake: 1 - busyShare(worst),
    confidence: "medium",
    doubt: "another program on the same device looks the same",
    evidence: [
      {
        metric: "gpu_utilization_percent",
        tags: { "device.uuid": worst.uuid },
        value: 100 * worst.utilization!.mean,
        unit: "%",
        what: "share of the time with a kernel, of all programs",
      },
      {
        metric: "gpu_busy_nanoseconds",
        tags: { "device.uuid": worst.uuid },
        value: 100 * busyShare(worst),
        unit: "%",
        what: "share of the time in kernels of this run that ended",
      },
      ...(worst.power_watts
        ? [{
          metric: "gpu_power_usage_watts",
          tags: { "device.uuid": worst.uuid },
          value: worst.power_watts.mean,
          unit: "W",
          what: "mean power: spinning takes little",
        }]
        : []),
    ],
    remedies: [
      "find the rank that is gone or stands still (errors, py-spy dump on each), and why",
      "TORCH_NCCL_ASYNC_ERROR_HANDLING=1 and a timeout of the process group end such a job instead of waiting",
    ],
    verify: `py-spy dump and nvidia-smi on ${
      deviceName(worst)
    }: which process, in which collective`,
    where: ofDevices(bad, all),
    explains: [
      "gpu_idle/sync_bound",
      "gpu_idle/host_bound",
      "gpu_idle/unexplained",
      "gpu_idle/input",
    ],
  };
}
