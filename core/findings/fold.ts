/** Folding: findings of many instances as one each, ranked by what they cost. */

import type { Confidence, Finding, InstanceJudgement, NotKnown, Sound } from "./finding.ts";

/** A finding, and the instances of which it is true. */
export interface FoldedFinding extends Finding {
  /** `instance_id` of each; of a finding about all together, none. */
  instances: string[];
  /** Number of instances that were judged. */
  of_instances: number;
  /** Id of the finding of which this one is a consequence; `null` if it is none. */
  consequence_of: string | null;
}

const WEIGHT: Readonly<Record<Confidence, number>> = { high: 1, medium: 0.7, low: 0.4 };

/** What a finding whose stake is not known is ranked by. */
const UNKNOWN_STAKE = 0.02;

/** The same of an error: it stopped some work. */
const ERROR_STAKE = 0.5;

/** Findings by id, the most costly first, consequences after their cause. */
export function foldFindings(
  judged: readonly InstanceJudgement[],
  fleet: readonly Finding[],
): FoldedFinding[] {
  const byId = new Map<string, FoldedFinding>();
  const add = (finding: Finding, instance_id: string | undefined, label: string) => {
    const known = byId.get(finding.id);
    if (!known) {
      byId.set(finding.id, {
        ...finding,
        where: judged.length > 1 && instance_id !== undefined
          ? [...new Set([label, finding.where])].filter(Boolean).join(", ")
          : finding.where,
        instances: instance_id === undefined ? [] : [instance_id],
        of_instances: judged.length,
        consequence_of: null,
      });
      return;
    }
    const instances = instance_id === undefined
      ? known.instances
      : [...new Set([...known.instances, instance_id])];
    // The instance that loses most stands for all: its numbers and words are kept whole.
    const kept = rank(finding) > rank(known) ? finding : known;
    byId.set(finding.id, {
      ...kept,
      where: judged.length > 1 ? `${instances.length} of ${judged.length} instances` : kept.where,
      instances,
      of_instances: judged.length,
      consequence_of: null,
    });
  };
  for (const { instance_id, label, judgement } of judged) {
    for (const finding of judgement.findings) add(finding, instance_id, label);
  }
  for (const finding of fleet) add(finding, undefined, "");
  const ranked = [...byId.values()].sort((a, b) => rank(b) - rank(a) || (a.id < b.id ? -1 : 1));
  for (const cause of ranked) {
    for (const id of cause.explains) {
      const finding = byId.get(id);
      if (finding && finding !== cause && !causes(finding, cause)) {
        finding.consequence_of ??= cause.id;
      }
    }
  }
  // A consequence that is not sure by itself adds nothing to its cause.
  const told = ranked.filter((one) => one.consequence_of === null || one.confidence !== "low");
  const first = told.filter(({ consequence_of }) => consequence_of === null);
  return first.flatMap((cause) => [
    cause,
    ...told.filter(({ consequence_of }) => consequence_of === cause.id),
  ]).concat(
    told.filter(({ consequence_of }) =>
      consequence_of !== null && !first.some(({ id }) => id === consequence_of)
    ),
  );
}

/** What a finding is ranked by: the share of time it is known to cost, less where it is not sure. */
export function rank({ share_at_stake, confidence, class: kind }: Finding): number {
  const unknown = kind === "error" ? ERROR_STAKE : UNKNOWN_STAKE;
  return (share_at_stake ?? unknown) * WEIGHT[confidence];
}

/** Whether `a` already is what `b` is a consequence of. */
function causes(a: FoldedFinding, b: FoldedFinding): boolean {
  return b.consequence_of === a.id;
}

/** Questions without an answer, once each. */
export function foldNotKnown(all: readonly NotKnown[]): NotKnown[] {
  return once(all, ({ rule, missing }) => `${rule}\n${missing}`);
}

/** What is as it should be, once each. */
export function foldSound(all: readonly Sound[]): Sound[] {
  return once(all, ({ rule, sentence }) => `${rule}\n${sentence}`);
}

function once<T>(all: readonly T[], key: (one: T) => string): T[] {
  return [...new Map(all.map((one) => [key(one), one])).values()];
}
