/** Throttling: clocks held down by power or heat, and the share of compute that it costs. */

import type { Evidence, Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import {
  busyShare,
  digits,
  mean,
  ofDevices,
  percent,
  type WorkedDevice,
  workedDevices,
} from "./measures.ts";
import type { Rule } from "./rule.ts";

/** A few percent of power capping are normal on every device under full load. */
const LOST_SHARE = 0.05;
/** A reason that held for less of the time is no cause. */
const HELD_SHARE = 0.2;

type Cause = "power_limit" | "power_brake" | "heat" | "hardware";

/** Reasons of the driver for a lower clock (NVML, `nvmlClocksEventReasons`) by what causes them. */
const CAUSES: Readonly<Record<string, Cause>> = {
  sw_power_cap: "power_limit",
  hw_power_brake_slowdown: "power_brake",
  sw_thermal_slowdown: "heat",
  hw_thermal_slowdown: "heat",
  hw_slowdown: "hardware",
};

/** Why a device is slower than it could be. */
export interface Throttled {
  device: WorkedDevice;
  cause: Cause;
  /** Reason as the driver names it, that held longest. */
  reason: string;
  /** Share of the time in which it held. */
  held: number;
  /** Share of the highest clock that is lost; `null` where clocks are not known. */
  lost: number | null;
}

/** The rule. */
export const throttling: Rule = {
  id: "throttling",
  judge(facts): Judgement {
    const all = workedDevices(facts);
    const byCause = new Map<Cause, Throttled[]>();
    for (const device of all) {
      const found = throttledBy(device);
      if (!found || !isCostly(found)) continue;
      byCause.set(found.cause, [...byCause.get(found.cause) ?? [], found]);
    }
    const findings = Array.from(byCause, ([cause, some]) => finding(cause, some, all));
    return { ...NOTHING, findings };
  },
};

/** What holds a device's clock down, the most serious of its reasons; `null` where nothing does. */
export function throttledBy(device: WorkedDevice): Throttled | null {
  const reasons = (device.throttled ?? []).filter(({ reason, share }) =>
    reason in CAUSES && share >= HELD_SHARE
  );
  // A hardware slowdown is told beside its own cause.
  const found = reasons.find(({ reason }) => reason !== "hw_slowdown") ?? reasons[0];
  if (!found) return null;
  const { clock_megahertz, max_clock_megahertz } = device;
  const lost = clock_megahertz && max_clock_megahertz
    ? Math.max(0, 1 - clock_megahertz.mean / max_clock_megahertz)
    : null;
  return { device, cause: CAUSES[found.reason]!, reason: found.reason, held: found.share, lost };
}

function isCostly({ device, cause, lost }: Throttled): boolean {
  // At its own limit a device is as fast as it was made: large products draw all of its power.
  if (cause === "power_limit" && !isLimited(device)) return false;
  return lost === null || lost >= LOST_SHARE;
}

/** Whether the limit is set below the one as delivered. */
function isLimited({ power_limit_watts, default_power_limit_watts }: WorkedDevice): boolean {
  return power_limit_watts !== null && default_power_limit_watts !== null &&
    power_limit_watts < 0.97 * default_power_limit_watts;
}

function finding(cause: Cause, some: readonly Throttled[], all: readonly WorkedDevice[]): Finding {
  const devices = some.map(({ device }) => device);
  const worst = some.toSorted((a, b) => (b.lost ?? 0) - (a.lost ?? 0))[0]!;
  const { device } = worst;
  const known = some.flatMap(({ lost }) => lost ?? []);
  // A memory-bound kernel does not slow down with the clock of the multiprocessors.
  const bound = Math.max(0, 1 - (device.dram?.mean ?? 0) / 0.9);
  const lost = known.length > 0 ? mean(known) * mean(devices.map(busyShare)) * bound : null;
  // Devices of one job wait for the slowest.
  const share = lost === null
    ? null
    : all.length > 1 && some.length < all.length && worst.lost !== null
    ? worst.lost * busyShare(device) * bound
    : lost;
  const where = ofDevices(devices, all);
  const clocks = device.clock_megahertz && device.max_clock_megahertz
    ? ` at ${digits(device.clock_megahertz.mean)} of ${digits(device.max_clock_megahertz)} MHz`
    : "";
  const limit = isLimited(device)
    ? `a power limit of ${digits(device.power_limit_watts!)} W, where ${
      digits(device.default_power_limit_watts!)
    } W are the default`
    : `the power limit${
      device.power_limit_watts ? ` of ${digits(device.power_limit_watts)} W, its default` : ""
    }`;
  const by = {
    power_limit: limit,
    power_brake: "a hardware power brake: the supply or its cabling asks for less power",
    heat: `heat${device.temperature ? ` (${digits(device.temperature.max)} °C)` : ""}`,
    hardware: "a hardware slowdown",
  }[cause];
  return {
    id: `throttling/${cause}`,
    class: "device",
    title: `Throttled: ${where} ${devices.length > 1 ? "run" : "runs"}${clocks}, held down ${
      percent(worst.held)
    } of the time by ${by}`,
    share_at_stake: share,
    confidence: known.length > 0 ? "high" : "medium",
    doubt: bound < 0.5 ? "the work waits for memory, which the clock hardly changes" : "",
    evidence: [
      {
        metric: "gpu_throttled_nanoseconds",
        tags: { reason: worst.reason },
        value: 100 * worst.held,
        unit: "%",
        what: "share of the time in which the reason held",
      },
      ...clockEvidence(device),
      ...(device.power_watts
        ? [{
          metric: "gpu_power_usage_watts",
          tags: {},
          value: device.power_watts.mean,
          unit: "W",
          what: "mean power",
        }]
        : []),
      ...(device.power_limit_watts !== null
        ? [{
          metric: "gpu_power_management_limit_watts",
          tags: {},
          value: device.power_limit_watts,
          unit: "W",
          what: "limit in force",
        }]
        : []),
      ...(device.default_power_limit_watts !== null
        ? [{
          metric: "device.default_power_limit_watts",
          tags: {},
          value: device.default_power_limit_watts,
          unit: "W",
          what: "limit as delivered",
        }]
        : []),
      ...(device.temperature
        ? [{
          metric: "gpu_temperature_celsius",
          tags: {},
          value: device.temperature.max,
          unit: "°C",
          what: "highest temperature",
        }]
        : []),
    ].slice(0, 6),
    remedies: {
      power_limit: isLimited(device)
        ? [
          "raise the power limit to its default (nvidia-smi -pl, as root), or ask who set it and why",
          "take the lower clock into account when results are compared",
        ]
        : [
          "nothing to win on this device: it runs at its own power limit",
          "fewer bytes and operations for the same work: lower precision, fusion",
        ],
      power_brake: [
        "have the device's power supply and cabling checked",
        "take the device or its host out of the job until then",
      ],
      heat: [
        "check cooling, fans, airflow and dust of the host",
        "move the job to another host until then",
      ],
      hardware: [
        "ask the driver (nvidia-smi -q -d PERFORMANCE) which hardware slowdown it is",
        "take the device out of the job until it is repaired",
      ],
    }[cause],
    verify:
      "gpu_throttled_nanoseconds of this reason falls to 0 and gpu_clock_sm_megahertz rises under the same load",
    where,
    explains: cause === "power_limit"
      ? ["collectives/straggler"]
      : ["throttling/power_limit", "throttling/hardware"],
  };
}

/** Clock beside the highest one. */
export function clockEvidence({ clock_megahertz, max_clock_megahertz }: WorkedDevice): Evidence[] {
  return clock_megahertz === null ? [] : [
    {
      metric: "gpu_clock_sm_megahertz",
      tags: {},
      value: clock_megahertz.mean,
      unit: "MHz",
      what: "mean clock of the multiprocessors",
    },
    ...(max_clock_megahertz === null ? [] : [{
      metric: "gpu_max_clock_sm_megahertz",
      tags: {},
      value: max_clock_megahertz,
      unit: "MHz",
      what: "highest clock",
    }]),
  ];
}
