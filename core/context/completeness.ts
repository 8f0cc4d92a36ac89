/** The section on completeness: what was not captured and why, what was lost, what came late. */

import { fenced, named } from "../quoted.ts";
import type { InstanceFacts } from "../facts/mod.ts";
import type { Interval } from "../gaps.ts";
import type { SectionText } from "./section_text.ts";
import { labelsOf, type Subject } from "./subject.ts";
import { clockTime, number } from "./words.ts";

/** Completeness. */
export function completenessSection({ instances }: Subject): SectionText {
  const lines = new Map<string, Set<string>>();
  const say = (line: string, label: string) => {
    const known = lines.get(line);
    if (known) known.add(label);
    else lines.set(line, new Set([label]));
  };
  const labelOf = labelsOf(instances);
  for (const facts of instances) {
    const label = labelOf(facts);
    for (const { capture, of, is_captured, reason } of facts.captures) {
      // A kind whose processes tell their own state needs no state of all.
      const isTold = of === "" &&
        facts.captures.some((other) => other.capture === capture && other.of !== "");
      if (is_captured || isTold) continue;
      say(
        `not captured: ${named(capture, 60)}${of ? ` of ${named(of, 60)}` : ""}${
          reason ? `: ${fenced(reason)}` : ""
        }`,
        label,
      );
    }
    if (facts.steps.length === 0) say("nothing was measured in this span", label);
    for (const { metric, total } of facts.losses) say(`${metric}: ${number(total)}`, label);
    const { covered_seconds, ran, gaps } = facts.span;
    const seconds = Number(ran.to_ns - ran.from_ns) / 1e9;
    if (covered_seconds < seconds - 1 || gaps.length > 0) {
      say(
        `${number(covered_seconds)} of ${number(seconds)} s are covered by windows` +
          coverageOf(facts),
        label,
      );
    }
  }
  const rows = Array.from(lines, ([line, labels], at) => ({
    text: `- ${line}${
      instances.length > 1
        ? ` (${
          labels.size === instances.length ? "all instances" : [...labels].slice(0, 5).join(", ")
        })`
        : ""
    }`,
    weight: 600 - at,
  }));
  const lead = rows.length > 0 ? ["An absent metric is not measured; it is never zero."] : [
    "Nothing is known to be missing: all that is captured is whole. An absent metric is not measured; it is never zero.",
  ];
  return { section: "completeness", title: "Completeness", blocks: [{ lead, rows }] };
}

/** Intervals that are listed. */
const LISTED = 4;

/** Share of a step that windows cover where it counts as whole. */
const WHOLE = 0.95;

/** Where windows cover all of the time, and the longest gaps. */
function coverageOf({ steps, span: { gaps } }: InstanceFacts): string {
  const whole: Interval[] = [];
  for (const { from_ns, to_ns, seconds } of steps) {
    if (seconds < WHOLE * Number(to_ns - from_ns) / 1e9) continue;
    const last = whole.at(-1);
    if (last?.to_ns === from_ns) whole[whole.length - 1] = { from_ns: last.from_ns, to_ns };
    else whole.push({ from_ns, to_ns });
  }
  return (whole.length > 0 ? `; whole from ${longest(whole)}` : "") +
    (gaps.length > 0 ? `; not covered from ${longest(gaps)}` : "");
}

function longest(intervals: readonly Interval[]): string {
  const lengthOf = ({ from_ns, to_ns }: Interval) => Number(to_ns - from_ns);
  const byTime = (a: Interval, b: Interval) => Number(a.from_ns - b.from_ns);
  const listed = intervals.toSorted((a, b) => lengthOf(b) - lengthOf(a) || byTime(a, b))
    .slice(0, LISTED).sort(byTime)
    .map(({ from_ns, to_ns }) => `${clockTime(from_ns)} to ${clockTime(to_ns)}`);
  const more = intervals.length - listed.length;
  return `${listed.join(", ")}${more > 0 ? ` and ${more} shorter times` : ""}`;
}
