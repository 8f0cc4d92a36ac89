/** The list of all rules. A new rule is a file, and a row here. */

import { capture } from "./capture.ts";
import { change } from "./change.ts";
import { collectives } from "./collectives.ts";
import { engine } from "./engine.ts";
import { deviceMemory } from "./device_memory.ts";
import { errors } from "./errors.ts";
import { gpuIdle } from "./gpu_idle.ts";
import { hardware } from "./hardware.ts";
import { host } from "./host.ts";
import { hostsDiffer } from "./hosts_differ.ts";
import { hostsStraggler } from "./hosts_straggler.ts";
import { kernels } from "./kernels.ts";
import { lockedClock } from "./locked_clock.ts";
import { noGpu } from "./no_gpu.ts";
import { roofline } from "./roofline.ts";
import type { FleetRule, Rule } from "./rule.ts";
import { smallKernels } from "./small_kernels.ts";
import { throttling } from "./throttling.ts";
import { transfers } from "./transfers.ts";

/** Rules about one instance. */
export const rules: readonly Rule[] = [
  capture,
  errors,
  hardware,
  gpuIdle,
  transfers,
  collectives,
  throttling,
  lockedClock,
  smallKernels,
  kernels,
  deviceMemory,
  roofline,
  engine,
  host,
  noGpu,
  change,
];

/** Rules about several instances. */
export const fleetRules: readonly FleetRule[] = [hostsStraggler, hostsDiffer];
