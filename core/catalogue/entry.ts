/** An entry of the catalogue. */

import type { Metric } from "../payload.ts";

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
