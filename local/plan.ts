/** What the launcher tells the watcher, which is a process of its own. */

import type { CudaPlan } from "./launch/gpu_environment.ts";
import type { ListenerOptions } from "./serve/listener.ts";
import type { Target } from "./engines/targets.ts";

/** The workload inherits it, and so does all it starts: by it a process is known to belong to it. */
export const INSTANCE_VARIABLE = "SERVICE_INSTANCE_ID";

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
