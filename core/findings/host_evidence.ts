/** Evidence of hosts: pressure, and the most that a host can cost. */

import type { InstanceFacts } from "../facts/mod.ts";
import { named } from "../quoted.ts";
import type { Evidence } from "./finding.ts";
import { busyShare, mean, workedDevices } from "./measures.ts";

/** Share of the time in which tasks stood still from which on it hurts (Linux PSI, `some`). */
export const STALLED = 0.15;

/** The same for `full`: nothing at all ran. */
export const STALLED_FULL = 0.05;

/** Findings about idle devices that a host may cause. */
export const IDLE = [
  "gpu_idle/sync_bound",
  "gpu_idle/host_bound",
  "gpu_idle/launch_bound",
  "gpu_idle/unexplained",
  "hosts/straggler",
  "collectives/straggler",
];

/** Share of the time in which devices waited: the most that a host can cost. */
export function idleShare(facts: InstanceFacts): number | null {
  const devices = workedDevices(facts);
  return devices.length > 0 ? 1 - mean(devices.map(busyShare)) : null;
}

/** What rises, or falls, once a host is mended: devices wait less, or the work itself takes less time. */
export function gained(idle: number | null): string {
  return idle === null ? "the same work takes less time" : "the GPU's busy share rises";
}

/** Share of the time in which work stood still for a resource; `null` where it is not measured. */
export function stalled({ host }: InstanceFacts, resource: string, kind: string): number | null {
  return host.stalled.find((one) => one.resource === resource && one.kind === kind)?.share ?? null;
}

/** Share of the time in which work stood still for a resource. */
export function pressure(resource: string, kind: string, share: number | null): Evidence[] {
  return share === null ? [] : [{
    metric: "host_pressure_stall_microseconds",
    tags: { resource, kind },
    value: 100 * share,
    unit: "%",
    what: kind === "full"
      ? "share of the time in which nothing could run for want of it"
      : "share of the time in which some task waited for it",
  }];
}

/** Name of the host, as a finding says where it is; empty if it is not known. */
export function hostOf({ host }: InstanceFacts): string {
  return host.name === null ? "" : named(host.name, 80);
}
