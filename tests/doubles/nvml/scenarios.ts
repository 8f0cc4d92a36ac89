/** Scenarios of the fake driver, and what the poller must make of each. */

import type { Scenario } from "./harness.ts";
import { TROUBLE_SCENARIOS } from "./trouble_scenarios.ts";
import { VALUE_SCENARIOS } from "./value_scenarios.ts";

/** All scenarios by their names. */
export const SCENARIOS: Record<string, Scenario> = { ...VALUE_SCENARIOS, ...TROUBLE_SCENARIOS };
