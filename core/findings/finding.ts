/** Findings: what limits a workload, with evidence; and what cannot be told. */

import type { Tags } from "../tags.ts";

/** How sure a finding is. */
export type Confidence = "high" | "medium" | "low";

/** What kind of thing limits. */
export type FindingClass =
  | "starved"
  | "transfer"
  | "kernel"
  | "collective"
  | "device"
  | "memory"
  | "host"
  | "engine"
  | "error"
  | "change";

/** One measured number behind a finding. */
export interface Evidence {
  /** Metric that it is of, or is derived from. */
  metric: string;
  /** Tags of the series; empty for all of them. */
  tags: Tags;
  /** The number, in `unit`. */
  value: number;
  /** Unit: `%`, `s`, `µs`, `launches/s`, `GB/s`, `requests`, `W` and so on. */
  unit: string;
  /** What the number is, in a few words: `busy share of wall time, mean of 8 devices`. */
  what: string;
}

/** Something that limits the workload. */
export interface Finding {
  /** Stable name: the rule, and after a slash what of it: `gpu_idle/launch_bound`. */
  id: string;
  /** Kind of what limits. */
  class: FindingClass;
  /** One sentence that names the cause, with its most telling number. */
  title: string;
  /** Share of the wall time, 0 to 1, that would be won if the cause were gone; `null` if not known. */
  share_at_stake: number | null;
  /** How sure it is. */
  confidence: Confidence;
  /** Why it is not surer, or what else could look so; empty if nothing. */
  doubt: string;
  /** Three to six numbers, the most telling first. */
  evidence: Evidence[];
  /** Known remedies, the best first. */
  remedies: string[];
  /** How to verify, or what to measure next. */
  verify: string;
  /** Where: `device 3`, `4 of 4 devices`, `rank 5`; the instances are added when findings are folded. */
  where: string;
  /** Ids of findings that are consequences of this one: they are told under it, not beside it. */
  explains: string[];
}

/** A question that the data does not answer. */
export interface NotKnown {
  /** The rule that could not judge. */
  rule: string;
  /** What is missing, and why. */
  missing: string;
  /** How to get it. */
  how: string;
  /** Whether the cause of a limit may hide here: then the verdict is `cannot_tell` when nothing is found. */
  is_decisive: boolean;
}

/** Something that is as it should be, and worth saying where nothing limits. */
export interface Sound {
  /** The rule that judged it. */
  rule: string;
  /** One sentence: `memory bandwidth is at 86 % of its peak: decoding at the hardware's limit`. */
  sentence: string;
  /** The numbers behind it. */
  evidence: Evidence[];
}

/** The answer of one rule. */
export interface Judgement {
  /** What limits. */
  findings: Finding[];
  /** What the data does not tell. */
  not_known: NotKnown[];
  /** What is as it should be. */
  sound: Sound[];
}

/** The judgement of a rule that has nothing to say. */
export const NOTHING: Judgement = { findings: [], not_known: [], sound: [] };

/** The judgements of one instance, as they are before several are folded. */
export interface InstanceJudgement {
  /** `instance_id`. */
  instance_id: string;
  /** `host.name`, or the id where that is not known. */
  label: string;
  /** What all rules said. */
  judgement: Judgement;
}
