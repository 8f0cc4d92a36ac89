/** Idle devices: those that wait, and the evidence that tells why. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Evidence } from "./finding.ts";
import {
  busyOf,
  busyShare,
  cpusOf,
  driverOf,
  mean,
  ofDevices,
  type WorkedDevice,
} from "./measures.ts";

/** A thread that uses this share of a processor has no time left. */
export const SATURATED_CPUS = 0.9;

/** The devices that idle, and the one that does most. */
export interface Idle {
  /** The device that idles most. */
  device: WorkedDevice;
  /** Those that idle. */
  idle: readonly WorkedDevice[];
  /** Those with work. */
  all: readonly WorkedDevice[];
}

/** Processors used by the busiest process with work on the device; one thread has one at most. */
export function threadOf(facts: InstanceFacts, device: WorkedDevice): number | null {
  const driver = driverOf(facts, device);
  return driver && cpusOf(driver);
}

/** Share of the time in which devices wait, their mean. */
export function idleShare(idle: readonly WorkedDevice[]): number {
  return 1 - mean(idle.map(busyShare));
}

/** What findings about idle devices have in common. */
export function base(idle: readonly WorkedDevice[], all: readonly WorkedDevice[]) {
  return {
    class: "starved" as const,
    share_at_stake: idleShare(idle) * idle.length / all.length,
    where: ofDevices(idle, all),
  };
}

/** Share of the time with work. */
export function busyEvidence(devices: readonly WorkedDevice[]): Evidence {
  const share = mean(devices.map(busyShare));
  return devices.length > 1
    ? busyOf(share, `share of the time with work on the device, mean of ${devices.length}`)
    : busyOf(share);
}

/** Launches a second. */
export function launchEvidence({ activity }: WorkedDevice, value: number): Evidence {
  return {
    metric: `${activity.source}_kernels_nanoseconds`,
    tags: {},
    value,
    unit: "launches/s",
    what: "kernels and graphs launched, a device",
  };
}

/** Mean length of a kernel. */
export function kernelEvidence({ activity }: WorkedDevice, seconds: number): Evidence {
  return {
    metric: `${activity.source}_kernel_duration_nanoseconds`,
    tags: {},
    value: seconds * 1e6,
    unit: "µs",
    what: "mean length of a kernel",
  };
}

/** Processors that the launching process uses. */
export function threadEvidence(cpus: number | null): Evidence[] {
  return cpus === null ? [] : [{
    metric: "process_user_cpu_seconds",
    tags: {},
    value: cpus,
    unit: "CPUs",
    what: cpus > SATURATED_CPUS && cpus < 1.3
      ? "processors used by the process that launches: all that one thread can use"
      : "processors used by the process that launches",
  }];
}
