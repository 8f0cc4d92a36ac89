/** The section of findings: the verdict, what costs most first, and what cannot be told. */

import { named, sentenceOf } from "../quoted.ts";
import type { Evidence, FoldedFinding } from "../findings/mod.ts";
import type { Row, SectionText } from "./page.ts";
import type { Subject } from "./subject.ts";
import { number } from "./words.ts";

/** Findings. */
export function findingsSection(
  { findings: { verdict, findings, not_known, sound } }: Subject,
): SectionText {
  const rows = findings.flatMap((finding, at) => findingRows(finding, at));
  const healthy: Row[] = findings.length > 0 ? [] : sound.map(({ rule, evidence }, at) => ({
    text: `Evidence (${rule}): ${evidence.map(evidenceText).join("; ")}.`,
    weight: 900 - at,
  }));
  return {
    section: "findings",
    title: "Findings",
    blocks: [
      { lead: [`Verdict: ${sentence(verdict.sentence)}`], rows: [...rows, ...healthy] },
      ...(not_known.length > 0
        ? [{
          lead: ["Not known:"],
          rows: not_known.map(({ missing, how, is_decisive }, at): Row => ({
            text: `- ${sentenceOf(missing, 600)}. To know it: ${sentenceOf(how, 400)}.`,
            weight: (is_decisive ? 960 : 380) - at,
          })),
        }]
        : []),
    ],
  };
}

function findingRows(finding: FoldedFinding, at: number): Row[] {
  const { title, id, confidence, doubt, share_at_stake, evidence, remedies, verify, where } =
    finding;
  const weight = 950 - 10 * at;
  const stake = finding.consequence_of !== null
    ? "its share is part of that one's, not in addition"
    : share_at_stake === null
    ? "share at stake not known"
    : finding.class === "engine"
    ? `${
      number(100 * share_at_stake)
    } % of a request's time at stake: its latency, not the throughput`
    : `${number(100 * share_at_stake)} % of the time at stake, at most ${
      amdahl(share_at_stake)
    } fast without it`;
  const of = finding.consequence_of ? `, likely a consequence of ${finding.consequence_of}` : "";
  const places = [
    where,
    finding.of_instances > 1
      ? `${finding.instances.length || finding.of_instances} of ${finding.of_instances} instances`
      : "",
  ]
    .filter((part, index, all) => part && all.indexOf(part) === index).join("; ");
  return [
    {
      text: `${at + 1}. ${sentence(title)}\n   [${id}${of}; ${stake}; confidence ${confidence}${
        doubt ? ` (${sentenceOf(doubt, 300)})` : ""
      }${places ? `; ${sentenceOf(places, 300)}` : ""}]`,
      weight,
    },
    { text: `   Evidence: ${evidence.map(evidenceText).join("; ")}.`, weight: weight - 1 },
    ...(remedies.length > 0
      ? [{
        text: `   Remedies: ${
          remedies.map((one, index) => `(${index + 1}) ${sentenceOf(one, 500)}`).join("; ")
        }.`,
        weight: weight - 2,
      }]
      : []),
    { text: `   Verify: ${sentenceOf(verify, 500)}.`, weight: weight - 3 },
  ];
}

function evidenceText({ what, value, unit, metric, tags }: Evidence): string {
  const own = Object.entries(tags).map(([name, tag]) => `${named(name, 60)}=${named(tag, 60)}`)
    .join(",");
  return `${what}: ${number(value)} ${unit} (${named(metric, 100)}${own ? `{${own}}` : ""})`;
}

function sentence(text: string): string {
  const one = sentenceOf(text, 900);
  return /[.!?]$/.test(one) ? one : `${one}.`;
}

function amdahl(share: number): string {
  return share >= 0.99 ? "many times" : `${(1 / (1 - share)).toFixed(2)} times as`;
}
