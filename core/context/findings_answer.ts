/** Findings as data: the answer of both endpoints, its check and its schema. */

import { quoted, sentenceOf } from "../quoted.ts";
import type {
  Confidence,
  Evidence,
  FindingClass,
  Findings,
  FoldedFinding,
  NotKnown,
  Verdict,
} from "../findings/mod.ts";
import {
  flag,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  type Shape,
  text,
} from "../schema.ts";
import type { Tags } from "../tags.ts";
import { upToTags } from "../value_schema.ts";
import { MAX_TAGS } from "../limits.ts";

/** What was found, as it is answered. */
export interface FindingsAnswer {
  /** The answer in one sentence. */
  verdict: Verdict;
  /** Findings, what costs most first, without what only their ranking needs. */
  findings: Omit<FoldedFinding, "explains">[];
  /** Questions that the data does not answer. */
  not_known: NotKnown[];
}

/** Characters of a text; what a workload named is cut far below. */
const LENGTH = 1_000;

const anyNumber = number(-Number.MAX_VALUE, Number.MAX_VALUE);

const evidence = object<Evidence>({
  metric: text(),
  tags: upToTags(MAX_TAGS),
  value: anyNumber,
  unit: text(),
  what: text(),
});

/** The shape of the answer. */
export const findingsShape: Shape<FindingsAnswer> = object<FindingsAnswer>({
  verdict: object<Verdict>({
    kind: oneOf("limited", "nothing_stands_out", "cannot_tell", "no_load"),
    sentence: text(),
  }),
  findings: list(object<FindingsAnswer["findings"][number]>({
    id: text(),
    class: oneOf<FindingClass>(
      ...(["starved", "transfer", "kernel", "collective", "device"] as const),
      ...(["memory", "host", "engine", "error", "change"] as const),
    ),
    title: text(),
    share_at_stake: nullable(number(0, 1)),
    confidence: oneOf<Confidence>("high", "medium", "low"),
    doubt: text(),
    evidence: list(evidence),
    remedies: list(text()),
    verify: text(),
    where: text(),
    instances: list(text()),
    of_instances: integer(0),
    consequence_of: nullable(text()),
  })),
  not_known: list(
    object<NotKnown>({ rule: text(), missing: text(), how: text(), is_decisive: flag }),
  ),
});

/** The answer for what was found: texts without control characters and secrets. */
export function findingsAnswer({ verdict, findings, not_known }: Findings): FindingsAnswer {
  return {
    verdict: { kind: verdict.kind, sentence: sentenceOf(verdict.sentence, LENGTH) },
    findings: findings.map(({ explains: _, ...finding }) => ({
      ...finding,
      share_at_stake: finding.share_at_stake && Math.min(1, Math.max(0, finding.share_at_stake)),
      title: sentenceOf(finding.title, LENGTH),
      doubt: sentenceOf(finding.doubt, LENGTH),
      evidence: finding.evidence.map((one) => ({
        ...one,
        metric: quoted(one.metric),
        what: sentenceOf(one.what, LENGTH),
        tags: quotedTags(one.tags),
      })),
      remedies: finding.remedies.map((one) => sentenceOf(one, LENGTH)),
      verify: sentenceOf(finding.verify, LENGTH),
      where: sentenceOf(finding.where, LENGTH),
    })),
    not_known: not_known.map(({ rule, missing, how, is_decisive }) => ({
      rule,
      missing: sentenceOf(missing, LENGTH),
      how: sentenceOf(how, LENGTH),
      is_decisive,
    })),
  };
}

function quotedTags(tags: Tags): Tags {
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, quoted(value)]));
}
