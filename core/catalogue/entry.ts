/** Entries of the catalogue. */

import type { Metric } from "../payload.ts";

/** One metric, explained for engineers who optimize a workload. */
export interface CatalogueEntry {
  /** The metric's name: snake_case, the unit last. */
  readonly name: string;
  /** Type of its series. */
  readonly type: Metric["type"];
  /** Unit of its values, with which its name or that of its gauge ends; `null` for a plain number. */
  readonly unit: string | null;
  /** Keys of the tags that identify its series. */
  readonly tags: readonly string[];
  /** Definition. */
  readonly meaning: string;
  /** How to read it, and what its absence means. */
  readonly read: string;
  /** Advice: what to change in the workload. */
  readonly act: string;
}

/** Keys of the tags that identify a process that uses GPUs. */
export const PROCESS_TAGS: readonly string[] = [
  "process.pid",
  "process.host_pid",
  "process.rank",
  "process.local_rank",
];
