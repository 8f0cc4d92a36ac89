/** Loads: what a small workload does all the time, in the terms of physics. Shares are of wall time. */

import type { ErrorEntry } from "../../entries.ts";
import type { Tags } from "../../tags.ts";

/** Work of one name on a device: share of the time, and the mean length of one. */
export interface WorkLoad {
  name: string;
  share: number;
  seconds: number;
}

/** Copies of one kind: share of the time, and the size and speed of one. */
export interface CopyLoad {
  kind: string;
  share: number;
  bytes: number;
  bytes_per_second: number;
}

/** Waits of threads for a device. */
export interface WaitLoad {
  name: string;
  per_second: number;
  share: number;
}

/** What a device does, and what its driver tells. */
export interface DeviceLoad {
  /** `device.name`, by which its peaks are known. */
  name: string;
  attributes?: Tags;
  /** Metrics of `cuda` or `rocm`. */
  source?: "cuda" | "rocm";
  pid: number;
  kernels?: readonly WorkLoad[];
  graphs?: readonly WorkLoad[];
  copies?: readonly CopyLoad[];
  waits?: readonly WaitLoad[];
  /** Share of the time with work; the sum of all work, at most 1, when absent. */
  busy?: number;
  graph_trace_mode?: 0 | 1;
  /** Records that were dropped, a second. */
  lost_per_second?: number;
  /** `false`: nothing was recorded of what it does. */
  isRecorded?: boolean;
  /** Gauges of the driver without their prefix `gpu_`. */
  gauges?: Readonly<Record<string, number>>;
  /** Counters of the driver without their prefix, a second. */
  counters?: Readonly<Record<string, number>>;
  /** Share of the time in which each reason lowered the clock. */
  throttled?: Readonly<Record<string, number>>;
}

/** A process. */
export interface ProcessLoad {
  pid: number;
  parent?: number;
  command: string;
  cpus: number;
  involuntary_per_second?: number;
  /** First and last second in which it is seen; the whole span when absent. */
  lives?: readonly [from: number, to: number];
}

/** A host. */
export interface HostLoad {
  cpus: number;
  /** Processors that short-lived processes of the run use. */
  ended_cpus?: number;
  /** Share of all processors in use; that of the processes when absent. */
  used?: number;
  memory_bytes?: number;
  memory_used_bytes?: number;
  swap_used_bytes?: number;
  iowait?: number;
  steal?: number;
  /** Shares of the time by `resource kind`: `io some`. */
  stalled?: Readonly<Record<string, number>>;
  read_bytes_per_second?: number;
  written_bytes_per_second?: number;
}

/** An engine's own metrics by their full names. */
export interface EngineLoad {
  tags?: Tags;
  gauges?: Readonly<Record<string, number>>;
  /** A second. */
  counters?: Readonly<Record<string, number>>;
  /** Number a second, and mean. */
  histograms?: Readonly<Record<string, readonly [per_second: number, mean: number]>>;
  /** Gauges whose tags are what they say. */
  configuration?: Readonly<Record<string, Tags>>;
}

/** What one instance does in one step. */
export interface Load {
  command?: string;
  tags?: Tags;
  devices?: readonly DeviceLoad[];
  processes?: readonly ProcessLoad[];
  host?: HostLoad;
  engine?: EngineLoad;
  /** Errors of the step, with seconds after its start. */
  errors?: readonly (Omit<ErrorEntry, "log_ns" | "exception"> & { at?: number })[];
  /** States of capture: reason by kind, for what is not captured. */
  refused?: Readonly<Record<string, string>>;
}
