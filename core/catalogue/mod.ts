/** The catalogue: every metric that the service itself defines, explained. */

import { DEVICE_METRICS } from "./device.ts";
import type { CatalogueEntry } from "./entry.ts";
import { GPU_METRICS } from "./gpu.ts";
import { HOST_METRICS } from "./host.ts";
import { PROCESS_METRICS } from "./process.ts";
import { PROFILER_METRICS } from "./profiler.ts";

export type { CatalogueEntry };

/** Every metric that the service itself defines, sorted by name. */
export const catalogue: readonly CatalogueEntry[] = [
  ...DEVICE_METRICS,
  ...GPU_METRICS,
  ...HOST_METRICS,
  ...PROCESS_METRICS,
  ...PROFILER_METRICS,
].sort((a, b) => a.name < b.name ? -1 : 1);

const byName = new Map(catalogue.map((entry) => [entry.name, entry]));

/** The entry of the metric `name`, or `undefined` for one that the service does not define. */
export function describe(name: string): CatalogueEntry | undefined {
  return byName.get(name);
}
