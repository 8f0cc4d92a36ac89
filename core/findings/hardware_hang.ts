/** Hangs: kernels that never end. */

import type { InstanceFacts } from "../facts/mod.ts";
import { busyCourse, steadyCourse, steadySeconds } from "./courses.ts";
import type { Finding } from "./finding.ts";
import { BASE } from "./hardware_base.ts";
import {
  busyShare,
  deviceName,
  digits,
  ofDevices,
  percent,
  type WorkedDevice,
  workedDevices,
} from "./measures.ts";

/** Share that the driver calls busy, and share of the run's own work, of a step in which nothing ends. */
const SPINNING = { utilization: 0.9, busy: 0.05 };

/** A step that is shorter may be within one long kernel. */
const LEAST_SECONDS = 30;

/** The finding that a kernel never ends. */
export function hang(facts: InstanceFacts): Finding | null {
  const all = workedDevices(facts);
  const seconds = new Map(all.map((one) => [one, spinningSeconds(facts, one)]));
  const bad = all.filter((one) => seconds.get(one)! >= LEAST_SECONDS);
  const [worst] = bad.toSorted((a, b) => seconds.get(b)! - seconds.get(a)!);
  if (!worst) return null;
  const spun = seconds.get(worst)!;
  return {
    ...BASE,
    id: "hardware/hang",
    class: "error",
    title:
      `Hang: the driver calls ${ofDevices(bad, all)} ${
        percent(worst.utilization!.last)
      } busy in the last ${digits(spun)} s, while no kernel ended there: ` +
      "one runs without end, as a collective does whose peer is gone",
    share_at_stake: Math.min(1, spun / Math.max(1e-9, facts.span.steady_seconds)),
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
      {
        metric: "gpu_busy_nanoseconds",
        tags: { "device.uuid": worst.uuid },
        value: spun,
        unit: "s",
        what: "time since the last of them",
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
      "change",
      "errors/collective_timeout",
      "gpu_idle/pauses",
      "gpu_idle/shared",
      "gpu_idle/sync_bound",
      "gpu_idle/host_bound",
      "gpu_idle/unexplained",
      "gpu_idle/input",
    ],
  };
}

/** Seconds at the end of the span in which the driver calls a device busy and nothing of the run ends on it. */
function spinningSeconds(facts: InstanceFacts, { uuid }: WorkedDevice): number {
  const busy = busyCourse(facts, uuid);
  const told = steadyCourse(
    facts,
    (metric, tags) => metric === "gpu_utilization_percent" && tags["device.uuid"] === uuid,
  );
  const seconds = steadySeconds(facts);
  let spun = 0;
  for (let at = busy.length - 1; at >= 0; at--) {
    const isSpinning = (told[at] ?? 0) / 100 >= SPINNING.utilization &&
      busy[at]! <= SPINNING.busy;
    if (!isSpinning) break;
    spun += seconds[at]!;
  }
  return spun;
}
