/** The list of all rules. A new rule is a file, and a row here. */

import { capture } from "./capture.ts";
import { gpuIdle } from "./gpu_idle.ts";
import type { FleetRule, Rule } from "./rule.ts";
import { transfers } from "./transfers.ts";

/** Rules about one instance. */
export const rules: readonly Rule[] = [capture, gpuIdle, transfers];

/** Rules about several instances. */
export const fleetRules: readonly FleetRule[] = [];
