/** The list of all rules. A new rule is a file, and a row here. */

import type { FleetRule, Rule } from "./rule.ts";

/** Rules about one instance. */
export const rules: readonly Rule[] = [];

/** Rules about several instances. */
export const fleetRules: readonly FleetRule[] = [];
