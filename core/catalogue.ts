/** What the metrics mean that the service itself defines, and what to do about them. */

import { GPU_METRICS } from "./catalogue_gpu.ts";
import { HOST_METRICS } from "./catalogue_host.ts";
import { PROCESS_METRICS } from "./catalogue_process.ts";
import { PROFILER_METRICS } from "./catalogue_profiler.ts";
import type { Metric } from "./payload.ts";

/** One metric, explained to whoever optimizes a workload by it. */
export interface CatalogueEntry {
  /** The metric's name: snake_case, the unit last. */
  readonly name: string;
  /** Which stats it has. */
  readonly type: Metric["type"];
  /** What its values count, as its name ends; `null` for a plain number. */
  readonly unit: string | null;
  /** Keys of the tags that tell its series apart. */
  readonly tags: readonly string[];
  /** What it is. */
  readonly meaning: string;
  /** How to read it, and what its absence means. */
  readonly read: string;
  /** What to do about it. */
  readonly act: string;
}

/** Every metric that the service itself defines, sorted by name. */
export const catalogue: readonly CatalogueEntry[] = [
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
