/** The plan of a run: the launcher makes it and hands it to the watcher, another process. */

import type { ListenerOptions } from "./serve/listener.ts";
import type { Target } from "./engines/targets.ts";

/** One run, before its workload has started. */
export interface Plan {
  id: string;
  start_ns: bigint;
  /** The process that waits for the workload, and for its orphans: the launcher's, which becomes it. */
  reaper: number;
  /** The workload's command line as it is published. */
  commandLine: string;
  /** From `--tag`. */
  tags: Record<string, string>;
  /** Messages to the user, one for each change of the command. */
  changes: string[];
  /** The Prometheus endpoints to read. */
  targets: Target[];
  /** The reason for each kind of measurement that is not captured. */
  missing: Record<string, string>;
  /** Capture of CUDA processes; absent without the native part. */
  cuda?: CudaPlan;
  /** Measurement of devices; absent without the native part. */
  devices?: DevicePlan;
  /** The native library that searches the console; absent without the native part. */
  sieve?: string;
  listen: ListenerOptions;
}

/** How the workload's CUDA processes are captured. */
export interface CudaPlan {
  /** The native library, which the driver is to load into them. */
  library: string;
  /** Variables for the workload. */
  environment: Record<string, string>;
  /** Directories for the segments of its processes. */
  directories: string[];
  /** Path of another tool that the user has named to the driver; our library loads it. */
  next?: string;
}

/** How devices are measured. */
export interface DevicePlan {
  /** The native library that polls them. */
  library: string;
  /** Directories for the segments of the pollers of all runs. */
  directories: string[];
  /** Path of a library to poll instead of the driver's, or the empty string. */
  nvml: string;
}

/** Variable of the workload's environment. All its processes inherit it, and are recognised by it. */
export const INSTANCE_VARIABLE = "SERVICE_INSTANCE_ID";

/** A fresh instance id: twelve random hex digits. */
export function newInstanceId(): string {
  return crypto.getRandomValues(new Uint8Array(6)).toHex();
}

/** The plan as one word of a command line. */
export function writePlan(plan: Plan): string {
  return JSON.stringify({ ...plan, start_ns: String(plan.start_ns) });
}

/** The plan that {@linkcode writePlan} wrote. */
export function readPlan(text: string): Plan {
  const plan = JSON.parse(text);
  return { ...plan, start_ns: BigInt(plan.start_ns) };
}
