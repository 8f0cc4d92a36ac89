/** Measures that several rules share, each `null` where it is not known. */

import { named } from "../quoted.ts";
import type { Activity, DeviceFacts, InstanceFacts, ProcessFacts } from "../facts/mod.ts";
import type { Evidence } from "./finding.ts";

/** A device on which the run worked. */
export interface WorkedDevice extends DeviceFacts {
  activity: Activity;
}

/** The devices on which the run did at least a thousandth of what it did on the busiest. */
export function workedDevices({ devices }: InstanceFacts): WorkedDevice[] {
  const worked = devices.filter((device): device is WorkedDevice => device.activity !== null);
  const most = Math.max(0, ...worked.map(({ activity }) => activity.busy_seconds));
  return worked.filter(({ activity }) => activity.busy_seconds > 0.001 * most);
}

/** Share of the time in which a device had work of the run: 0 to 1. */
export function busyShare({ activity }: WorkedDevice): number {
  return activity.captured_seconds > 0 ? activity.busy_seconds / activity.captured_seconds : 0;
}

/** Evidence: the share of the time with work, 0 to 1. */
export function busyOf(
  share: number,
  what = "share of the time with work on the device",
): Evidence {
  return { metric: "gpu_busy_nanoseconds", tags: {}, value: 100 * share, unit: "%", what };
}

/** Seconds of kernels and graphs of a device; concurrent ones count each. */
export function computeSeconds({ activity }: WorkedDevice): number {
  return sum([...activity.kernels, ...activity.graphs].map(({ seconds }) => seconds)) +
    activity.unnamed_kernel_seconds;
}

/** Seconds of kernels of some categories. */
export function categorySeconds({ activity }: WorkedDevice, ...categories: string[]): number {
  return sum(
    activity.kernels.filter(({ category }) => categories.includes(category))
      .map(({ seconds }) => seconds),
  );
}

/** Seconds of copies to and from the host. */
export function hostCopySeconds({ activity }: WorkedDevice): number {
  return sum(
    activity.copies.filter(({ name }) => /host/.test(name)).map(({ seconds }) => seconds),
  );
}

/** Launches of kernels and graphs a second. */
export function launchesPerSecond({ activity }: WorkedDevice): number {
  const times = sum([...activity.kernels, ...activity.graphs].map((work) => work.times));
  return activity.captured_seconds > 0 ? times / activity.captured_seconds : 0;
}

/** Mean length of a kernel that was launched by itself, seconds; `null` without any. */
export function meanKernelSeconds({ activity }: WorkedDevice): number | null {
  const times = sum(activity.kernels.map((kernel) => kernel.times));
  return times > 0 ? sum(activity.kernels.map(({ seconds }) => seconds)) / times : null;
}

/** The process that keeps a device busy, the busiest of several; `null` where processes are not known. */
export function driverOf(
  facts: InstanceFacts,
  { activity }: WorkedDevice,
): ProcessFacts | null {
  const pids = new Set(activity.pids);
  return facts.processes.find(({ pid }) => pid !== null && pids.has(pid)) ?? null;
}

/** Processors that a process uses: seconds of processor time a second. */
export function cpusOf({ user_cpus, system_cpus }: ProcessFacts): number | null {
  return user_cpus === null && system_cpus === null ? null : (user_cpus ?? 0) + (system_cpus ?? 0);
}

/** The sum of numbers. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The mean of numbers, of which there must be one. */
export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/** The median of numbers, of which there must be one. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** How many of the devices something is true of, in words. */
export function ofDevices(some: readonly DeviceFacts[], all: readonly DeviceFacts[]): string {
  if (all.length === 1) return deviceName(all[0]!);
  return some.length === 1 ? deviceName(some[0]!) : `${some.length} of ${all.length} devices`;
}

/** A device by its index, or by its uuid where that is not known. */
export function deviceName({ index, uuid }: DeviceFacts): string {
  return index === null ? named(uuid, 60) : `device ${index}`;
}

/** A share as whole percent, one digit more below 10; `?` for what is no number. */
export function percent(share: number): string {
  const value = 100 * share;
  if (!Number.isFinite(value)) return "? %";
  return `${value < 9.95 ? value.toFixed(1) : value.toFixed(0)} %`;
}

/** A number with three significant digits, without an exponent up to 10^15; `?` for what is no number. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return "?";
  if (value === 0) return "0";
  if (Math.abs(value) >= 1e15) return value.toPrecision(3);
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  const text = value.toFixed(Math.min(decimals, 12));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
