/** Rules: each looks for one kind of limit. A rule is a file, and a row of the list in `mod.ts`. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Judgement } from "./finding.ts";

/** A rule about one instance. */
export interface Rule {
  /** Stable name, the first part of its findings' ids. */
  readonly id: string;
  /** Judges the facts of one instance; no evidence, no finding. */
  judge(facts: InstanceFacts): Judgement;
}

/** A rule about several instances, such as hosts of one job. */
export interface FleetRule {
  /** Stable name, the first part of its findings' ids. */
  readonly id: string;
  /** Judges the facts of all instances; it is asked only if there are at least two. */
  judge(all: readonly InstanceFacts[]): Judgement;
}
