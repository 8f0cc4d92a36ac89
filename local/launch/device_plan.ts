/** The plan by which devices are measured. */

import { isListable, segmentDirectories, stateDirectory } from "../base/directories.ts";
import type { DevicePlan } from "../plan.ts";

/** The library that polls devices, and the environment. */
export interface DevicePlanOptions {
  library: string;
  env: Readonly<Record<string, string>>;
}

/**
 * The measurement of devices in a run. All runs of a user share the directories, so that one of them polls
 * a device for all. Another library than the driver's, as tests have it, tells of other devices: only runs
 * with the same state directory share those.
 */
export function planDevices({ library, env }: DevicePlanOptions): DevicePlan {
  const nvml = env.SERVICE_NVML_LIBRARY ?? "";
  const directories = segmentDirectories("devices", stateDirectory(env)).filter(isListable);
  return { library, directories: nvml === "" ? directories : directories.slice(-1), nvml };
}
