/**
 * Findings: what limits workloads, ranked by what it costs, made by rules from facts. Texts, tables and
 * pages only render them.
 */

import { named } from "../quoted.ts";
import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding, InstanceJudgement, Judgement, NotKnown, Sound } from "./finding.ts";
import { type FoldedFinding, foldFindings, foldNotKnown, foldSound } from "./fold.ts";
import { fleetRules, rules } from "./rules.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

export type {
  Confidence,
  Evidence,
  Finding,
  FindingClass,
  InstanceJudgement,
  Judgement,
  NotKnown,
  Sound,
} from "./finding.ts";
export type { FoldedFinding } from "./fold.ts";
export type { FleetRule, Rule } from "./rule.ts";
export type { Verdict } from "./verdict.ts";

/** What was found of some instances. */
export interface Findings {
  /** The answer in one sentence. */
  verdict: Verdict;
  /** Findings, what costs most first; consequences of another come after it. */
  findings: FoldedFinding[];
  /** Questions that the data does not answer, once each. */
  not_known: NotKnown[];
  /** What is as it should be. */
  sound: Sound[];
}

/** Judges one instance by every rule. */
export function judge(facts: InstanceFacts): InstanceJudgement {
  return {
    instance_id: facts.instance.instance_id,
    label: named(facts.instance.tags["host.name"] ?? facts.instance.instance_id, 60),
    judgement: joined(rules.map((rule) => rule.judge(facts))),
  };
}

/**
 * What was found of `all`. Findings are made for each instance and folded: those of one id are one, that
 * says of how many instances it is true.
 */
export function findings(
  all: readonly InstanceFacts[],
  judged: readonly InstanceJudgement[] = all.map(judge),
): Findings {
  const fleet = all.length > 1 ? joined(fleetRules.map((rule) => rule.judge(all))) : undefined;
  const found: readonly Finding[] = fleet?.findings ?? [];
  const folded = foldFindings(judged, found);
  const not_known = foldNotKnown([
    ...judged.flatMap(({ judgement }) => judgement.not_known),
    ...fleet?.not_known ?? [],
  ]);
  const sound = foldSound([
    ...judged.flatMap(({ judgement }) => judgement.sound),
    ...fleet?.sound ?? [],
  ]);
  return {
    verdict: verdictOf(all, { findings: folded, not_known, sound }),
    findings: folded,
    not_known,
    sound,
  };
}

function joined(judgements: readonly Judgement[]): Judgement {
  return {
    findings: judgements.flatMap(({ findings }) => findings.map(bounded)),
    not_known: judgements.flatMap(({ not_known }) => not_known),
    sound: judgements.flatMap(({ sound }) => sound),
  };
}

/** A finding with a share from 0 to 1 and finite numbers, whatever the windows claim. */
function bounded(finding: Finding): Finding {
  const { share_at_stake: share, evidence } = finding;
  return {
    ...finding,
    share_at_stake: Number.isFinite(share) ? Math.min(1, Math.max(0, share!)) : null,
    evidence: evidence.filter(({ value }) => Number.isFinite(value)),
  };
}
