/** The section of findings: the verdict, what costs most first, and what cannot be told. */

import { named, sentenceOf } from "../quoted.ts";
import type { InstanceFacts } from "../facts/mod.ts";
import type { Evidence, FoldedFinding } from "../findings/mod.ts";
import type { Tags } from "../tags.ts";
import type { Row, SectionText } from "./section_text.ts";
import type { Subject } from "./subject.ts";
import { number, tagsByName } from "./words.ts";

/** Weights of the verdict, of the first finding, and of those after it. */
const VERDICT = 1000;
const FIRST = 995;
const LATER = 950;

/** Findings. */
export function findingsSection(
  { instances, findings: { verdict, findings, not_known, sound } }: Subject,
): SectionText {
  const indices = indicesOf(instances);
  const rows = findings.flatMap((finding, at) =>
    findingRows(finding, { at, isVerdict: finding.title === verdict.sentence, indices })
  );
  const healthy = findings.length > 0
    ? []
    : sound.flatMap(({ rule, evidence }, at) =>
      evidenceRows(evidence, { of: ` (${rule})`, weight: 900 - at, indices })
    );
  return {
    section: "findings",
    title: "Findings",
    blocks: [
      {
        lead: [`Verdict: ${sentence(verdict.sentence)}`],
        rows: [...rows, ...healthy],
        weight: VERDICT,
        of: "lines",
      },
      ...(not_known.length > 0
        ? [{
          lead: ["Not known:"],
          rows: not_known.map(({ missing, how, is_decisive }, at): Row => ({
            text: `- ${sentenceOf(missing, 600)}. To know it: ${sentenceOf(how, 400)}.`,
            weight: (is_decisive ? 980 : 380) - at,
          })),
        }]
        : []),
    ],
  };
}

function findingRows(
  finding: FoldedFinding,
  { at, isVerdict, indices }: { at: number; isVerdict: boolean; indices: Indices },
): Row[] {
  const { title, id, confidence, doubt, evidence, remedies, verify, where } = finding;
  const weight = at === 0 ? FIRST : LATER - 10 * at;
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
      text: `${at + 1}. ${isVerdict ? "As the verdict says." : sentence(title)}\n   [${id}${of}; ${
        stakeOf(finding)
      }; confidence ${confidence}${doubt ? ` (${sentenceOf(doubt, 300)})` : ""}${
        places ? `; ${sentenceOf(places, 300)}` : ""
      }]`,
      weight,
    },
    ...evidenceRows(evidence, { of: "", weight: weight - 1, indices }),
    ...(remedies.length > 0
      ? [{
        text: `   Remedies: ${
          remedies.map((one, index) => `(${index + 1}) ${sentenceOf(one, 500)}`).join("; ")
        }.`,
        weight: weight - 1.05,
      }]
      : []),
    { text: `   Verify: ${sentenceOf(verify, 500)}.`, weight: weight - 3 },
  ];
}

function stakeOf({ class: kind, share_at_stake, consequence_of }: FoldedFinding): string {
  if (consequence_of !== null) return "its share is part of that one's, not in addition";
  if (share_at_stake === null) return "share at stake not known";
  const share = `${number(100 * share_at_stake)} %`;
  return kind === "engine"
    ? `${share} of a request's time at stake: its latency; what the throughput gains is not told`
    : `${share} of the time at stake: at most ${amdahl(share_at_stake)} fast`;
}

/** Indices of the devices of one instance by their UUID; among several they are no names. */
type Indices = ReadonlyMap<string, number>;

function indicesOf([first, ...others]: readonly InstanceFacts[]): Indices {
  const devices = others.length === 0 ? first?.devices ?? [] : [];
  return new Map(
    devices.flatMap(({ uuid, index }) => index === null ? [] : [[uuid, index] as const]),
  );
}

/** A row a number; tags that all of them have are told once. */
function evidenceRows(
  evidence: readonly Evidence[],
  { of, weight, indices }: { of: string; weight: number; indices: Indices },
): Row[] {
  const shared = sharedTags(evidence);
  const isShared = Object.keys(shared).length > 0;
  return evidence.map(({ what, value, unit, metric, tags }, at) => {
    const own = Object.fromEntries(Object.entries(tags).filter(([name]) => !(name in shared)));
    const head = at > 0
      ? ""
      : `   Evidence${of}${isShared ? ` of ${tagsText(shared, indices)}` : ""}:\n`;
    return {
      text: `${head}   - ${sentenceOf(what, 300)}: ${number(value)} ${unit} (${named(metric, 100)}${
        tagsText(own, indices)
      })`,
      weight: weight - at / 10,
    };
  });
}

/** Tags that all of several numbers have. */
function sharedTags(evidence: readonly Evidence[]): Tags {
  const [first, ...others] = evidence;
  if (others.length === 0) return {};
  return Object.fromEntries(
    Object.entries(first!.tags).filter(([name, value]) =>
      others.every(({ tags }) => tags[name] === value)
    ),
  );
}

/** Tags in braces; a device by its index. */
function tagsText(tags: Tags, indices: Indices): string {
  const own = tagsByName(tags).map(([name, tag]) => {
    const index = name === "device.uuid" ? indices.get(tag) : undefined;
    return index === undefined ? `${named(name, 60)}=${named(tag, 60)}` : `device=${index}`;
  });
  return own.length > 0 ? `{${own.join(",")}}` : "";
}

function sentence(text: string): string {
  const one = sentenceOf(text, 900);
  return /[.!?]$/.test(one) ? one : `${one}.`;
}

function amdahl(share: number): string {
  return share >= 0.99 ? "many times" : `${(1 / (1 - share)).toFixed(2)} times as`;
}
