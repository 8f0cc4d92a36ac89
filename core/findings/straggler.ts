/**
 * Stragglers: the device that makes the others wait in collectives. Among them the rank with the short one
 * is the slow one: the others are in it early.
 */

import { named } from "../quoted.ts";
import type { Finding } from "./finding.ts";
import {
  busyShare,
  categorySeconds,
  computeSeconds,
  deviceName,
  hostCopySeconds,
  median,
  percent,
  type WorkedDevice,
} from "./measures.ts";
import { clockEvidence, throttledBy } from "./throttling.ts";

/** The others wait for a device whose collectives take less than this share of the usual time. */
const SHORT_SHARE = 0.7;

/** A device is slow if its own kernels take this much longer than usual. */
const SLOW_FACTOR = 1.05;

/** Waiting below this share of the time is noise between ranks. */
const WAITED_SHARE = 0.03;

/** How a device compares with the usual one. */
export interface Rank<T> {
  /** The device, or the host. */
  of: T;
  /** Share of the time in collectives. */
  collective: number;
  /** Share of the time in all other kernels and graphs. */
  own: number;
  /** Share of the time without any work. */
  idle: number;
  /** Share of the time in copies to and from the host. */
  copies: number;
}

/** The rank that the others wait for; `null` where none stands out. */
export function slowRank<T>(
  ranks: readonly Rank<T>[],
): { slow: Rank<T>; usual: Rank<null>; waited: number } | null {
  const usual = {
    of: null,
    collective: median(ranks.map(({ collective }) => collective)),
    own: median(ranks.map(({ own }) => own)),
    idle: median(ranks.map(({ idle }) => idle)),
    copies: median(ranks.map(({ copies }) => copies)),
  };
  const slow = ranks.toSorted((a, b) => a.collective - b.collective)[0]!;
  const waited = usual.collective - slow.collective;
  const isSlow = slow.collective < SHORT_SHARE * usual.collective && waited >= WAITED_SHARE &&
    (slow.own > SLOW_FACTOR * usual.own || heldBy({ slow, usual, waited }) !== null);
  return isSlow ? { slow, usual, waited } : null;
}

/** Findings that say why a rank is late: they are told under it. */
export const LATE: readonly string[] = [
  "gpu_idle/host_bound",
  "gpu_idle/sync_bound",
  "gpu_idle/launch_bound",
  "gpu_idle/input",
  "gpu_idle/unexplained",
];

/** What a rank does while the others wait, where that is no work of its kernels: it is idle, or copies. */
export function heldBy<T>(
  { slow, usual, waited }: { slow: Rank<T>; usual: Rank<null>; waited: number },
): "idle" | "copies" | null {
  if (slow.idle - usual.idle >= 0.5 * waited) return "idle";
  return slow.copies - usual.copies >= 0.5 * waited ? "copies" : null;
}

/** The finding that others wait for one device; `null` where none stands out. */
export function straggler(devices: readonly WorkedDevice[]): Finding | null {
  const found = slowRank(devices.map(rankOf));
  if (!found) return null;
  const { slow, usual, waited } = found;
  const device = slow.of;
  const others = devices.filter((other) => other !== device);
  const factor = sameKernels(device, others);
  const throttled = throttledBy(device);
  const isOnlyThrottled = throttled !== null &&
    others.filter((other) => throttledBy(other)?.cause === throttled.cause).length === 0;
  const held = heldBy(found);
  const work = factor !== null && factor < SLOW_FACTOR && !isOnlyThrottled && held === null;
  const why = held === "idle"
    ? `it is idle ${percent(slow.idle)} of the time: the process that feeds it is late`
    : held === "copies"
    ? `its copies take ${percent(slow.copies)} of the time, where ${
      percent(usual.copies)
    } is usual: see its link`
    : isOnlyThrottled
    ? `its clock is held down by ${named(throttled.reason)}`
    : work
    ? "its kernels are as fast as the others', so it has more work"
    : factor !== null && isFullClock(device, others)
    ? "its kernels take longer at the same clock, so each has more to do, or memory, a link or a neighbour slows it"
    : "clocks and throttle reasons do not tell why";
  return {
    id: work ? "collectives/uneven_work" : "collectives/straggler",
    class: "collective",
    title:
      `Straggler: ${
        deviceName(device)
      } is slow, and ${others.length} other devices wait for it in collectives ` +
      `${percent(waited)} of the time; ${why}`,
    share_at_stake: waited,
    confidence: isOnlyThrottled || work ? "high" : "medium",
    doubt: isOnlyThrottled || work
      ? ""
      : "heat, power, link and neighbours on its host are not told apart by this data",
    evidence: [
      {
        metric: `${device.activity.source}_kernels_nanoseconds`,
        tags: { "device.uuid": device.uuid },
        value: 100 * slow.collective,
        unit: "%",
        what: `time in collectives of ${deviceName(device)}`,
      },
      {
        metric: `${device.activity.source}_kernels_nanoseconds`,
        tags: {},
        value: 100 * usual.collective,
        unit: "%",
        what: "time in collectives, median of all devices",
      },
      ...(factor === null ? [] : [{
        metric: `${device.activity.source}_kernels_nanoseconds`,
        tags: { "device.uuid": device.uuid },
        value: factor,
        unit: "times",
        what: "mean length of its compute kernels, as a multiple of the others'",
      }]),
      ...clockEvidence(device),
      ...(throttled
        ? [{
          metric: "gpu_throttled_nanoseconds",
          tags: { "device.uuid": device.uuid, reason: throttled.reason },
          value: 100 * throttled.held,
          unit: "%",
          what: "share of the time in which the reason held",
        }]
        : []),
    ],
    remedies: work
      ? ["balance the work between ranks: sequence lengths, experts, layers of a pipeline stage"]
      : [
        ...(isFullClock(device, others) && !isOnlyThrottled
          ? [
            "see whether its share of the work is larger: longer sequences, more samples or experts",
          ]
          : []),
        isOnlyThrottled && throttled.cause === "power_brake"
          ? `have the power supply and cabling of ${deviceName(device)} (${
            named(device.uuid, 60)
          }) checked`
          : isOnlyThrottled && throttled.cause === "heat"
          ? `have the cooling of ${deviceName(device)} (${named(device.uuid, 60)}) checked`
          : `find what slows ${deviceName(device)} (${
            named(device.uuid, 60)
          }): clock, throttle reasons, temperature, link, neighbours`,
        "take it, or its host, out of the job until then: the job goes at the pace of its slowest device",
      ],
    verify:
      "after the change collectives take the same time on all devices, and the step is shorter by the waiting",
    where: deviceName(device),
    explains: [
      "collectives/exposed",
      ...(held === "idle" ? LATE : []),
      ...(throttled ? [`throttling/${throttled.cause}`, "throttling/hardware"] : []),
    ],
  };
}

/** How a device compares: its time in collectives and in everything else. */
export function rankOf(device: WorkedDevice): Rank<WorkedDevice> {
  const { captured_seconds } = device.activity;
  const collective = categorySeconds(device, "collective");
  return {
    of: device,
    collective: collective / captured_seconds,
    own: (computeSeconds(device) - collective) / captured_seconds,
    idle: 1 - busyShare(device),
    copies: hostCopySeconds(device) / captured_seconds,
  };
}

/** Mean length of the same kernels on a device, as a multiple of the others'; weighted by time. */
export function sameKernels(device: WorkedDevice, others: readonly WorkedDevice[]): number | null {
  let own = 0;
  let usual = 0;
  for (const kernel of device.activity.kernels.slice(0, 40)) {
    if (kernel.category === "collective" || kernel.times === 0) continue;
    const means = others.flatMap(({ activity }) => {
      const same = activity.kernels.find(({ name }) => name === kernel.name);
      return same && same.times > 0 ? [same.seconds / same.times] : [];
    });
    if (means.length === 0) continue;
    own += kernel.seconds;
    usual += kernel.times * median(means);
  }
  return usual > 0 ? own / usual : null;
}

/** Whether the clock of a device is as high as that of the others, within two percent. */
function isFullClock({ clock_megahertz }: WorkedDevice, others: readonly WorkedDevice[]): boolean {
  const clocks = others.flatMap(({ clock_megahertz: clock }) => clock?.mean ?? []);
  return clock_megahertz !== null && clocks.length > 0 &&
    clock_megahertz.mean >= 0.98 * median(clocks);
}
