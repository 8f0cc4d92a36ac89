/** What the launcher tells the watcher, which is a process of its own. */

import type { ListenerOptions } from "./serve/listener.ts";
import type { Target } from "./engines/targets.ts";

/** The workload inherits it, and so does all it starts: by it a process is known to belong to it. */
export const INSTANCE_VARIABLE = "SERVICE_INSTANCE_ID";

/** How the workload's CUDA processes are captured. */
export interface CudaPlan {
  /** The native library, which the driver is to load into them. */
  library: string;
  /** Variables for the workload. */
  environment: Record<string, string>;
  /** Where its processes leave what they measure. */
  directories: string[];
  /** Another tool that the user has named to the driver, and that ours loads. */
  next?: string;
}

/** A fresh instance id: twelve random hex digits. */
export function newInstanceId(): string {
  return crypto.getRandomValues(new Uint8Array(6)).toHex();
}

/** One run, before its workload has started. */
export interface Plan {
  id: string;
  start_ns: bigint;
  /** As it is published. */
  commandLine: string;
  /** From `--tag`. */
  tags: Record<string, string>;
  /** What was changed in the command, in words. */
  changes: string[];
  /** The Prometheus endpoints to read. */
  targets: Target[];
  /** What is not captured, and why. */
  missing: Record<string, string>;
  /** How CUDA processes are captured; absent where there is no native part to do it. */
  cuda?: CudaPlan;
  listen: ListenerOptions;
}

/** A plan as one word of a command line. */
export function writePlan(plan: Plan): string {
  return JSON.stringify({ ...plan, start_ns: String(plan.start_ns) });
}

/** The plan that {@linkcode writePlan} wrote. */
export function readPlan(text: string): Plan {
  const plan = JSON.parse(text);
  return { ...plan, start_ns: BigInt(plan.start_ns) };
}
