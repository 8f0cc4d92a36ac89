/** Locked clocks: devices that run below their highest clock all the time, and nothing throttles them. */

import type { Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import {
  busyOf,
  busyShare,
  digits,
  mean,
  ofDevices,
  percent,
  type WorkedDevice,
  workedDevices,
} from "./measures.ts";
import type { Rule } from "./rule.ts";
import { clockEvidence } from "./throttling.ts";

/** A busy device without a reason for less runs within a few percent of its highest clock. */
const LOST_SHARE = 0.15;

/** A device that rests lowers its clock by itself. */
const BUSY = 0.8;

/** Reasons that hold for more of the time than this explain a lower clock. */
const REASON_SHARE = 0.02;

/** Reasons that say that someone asked for the clock, or that say nothing of it. */
const ASKED = /applications_clocks|gpu_idle|sync_boost|display_clock/;

/** The rule. */
export const lockedClock: Rule = {
  id: "throttling",
  judge(facts): Judgement {
    const all = workedDevices(facts);
    const locked = all.filter((device) => lostOf(device) >= LOST_SHARE && isUnexplained(device));
    return locked.length > 0 ? { ...NOTHING, findings: [finding(locked, all)] } : NOTHING;
  },
};

/** Share of the highest clock that a busy device lacks all the time. */
function lostOf(device: WorkedDevice): number {
  const { clock_megahertz: clock, max_clock_megahertz: most } = device;
  if (!clock || !most || busyShare(device) < BUSY) return 0;
  return 1 - clock.max / most;
}

/** Whether reasons are measured, and none of them lowers the clock. */
function isUnexplained({ throttled }: WorkedDevice): boolean {
  return throttled !== null &&
    throttled.every(({ reason, share }) => ASKED.test(reason) || share <= REASON_SHARE);
}

function finding(locked: readonly WorkedDevice[], all: readonly WorkedDevice[]): Finding {
  const [device] = locked;
  const lost = mean(locked.map(lostOf));
  // A memory-bound kernel does not slow down with the clock of the multiprocessors.
  const bound = Math.max(0, 1 - (device!.dram?.mean ?? 0) / 0.9);
  return {
    id: "throttling/locked_clock",
    class: "device",
    title: `Low clock: ${ofDevices(locked, all)} never ${
      locked.length > 1 ? "run" : "runs"
    } above ${digits(device!.clock_megahertz!.max)} of ${
      digits(device!.max_clock_megahertz!)
    } MHz (${
      percent(lost)
    } less), and neither power nor heat holds the clock down: it looks locked`,
    share_at_stake: lost * mean(locked.map(busyShare)) * bound * locked.length / all.length,
    confidence: "medium",
    doubt: "that someone locked it is concluded from what is missing: no throttle reason holds",
    evidence: [
      ...clockEvidence(device!),
      ...(device!.power_watts
        ? [{
          metric: "gpu_power_usage_watts",
          tags: {},
          value: device!.power_watts.mean,
          unit: "W",
          what: "mean power",
        }]
        : []),
      busyOf(mean(locked.map(busyShare)), "share of the time with work"),
    ],
    remedies: [
      "nvidia-smi -q -d CLOCK shows locked and application clocks; nvidia-smi -rgc and -rac set them free (as root), or ask who locked them",
      "take the lower clock into account when results are compared",
    ],
    verify: "gpu_clock_sm_megahertz rises under the same load",
    where: ofDevices(locked, all),
    explains: [],
  };
}
