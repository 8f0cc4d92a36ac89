/** Metrics of GPU devices, for all their processes together. */

import { DEVICE_HEALTH_METRICS } from "./device_health.ts";
import { DEVICE_LINK_METRICS } from "./device_links.ts";
import { DEVICE_POWER_METRICS } from "./device_power.ts";
import { DEVICE_USE_METRICS } from "./device_use.ts";
import type { CatalogueEntry } from "./entry.ts";

/** The catalogue's entries of GPU devices. */
export const DEVICE_METRICS: readonly CatalogueEntry[] = [
  ...DEVICE_USE_METRICS,
  ...DEVICE_POWER_METRICS,
  ...DEVICE_LINK_METRICS,
  ...DEVICE_HEALTH_METRICS,
];
