/** The section of errors: newest first, repeats folded. */

import { fenced } from "../quoted.ts";
import type { ErrorEntry } from "../entries.ts";
import type { SectionText } from "./section_text.ts";
import { labelsOf, type Subject } from "./subject.ts";
import { number } from "./words.ts";

/** Entries that are looked at. */
const MOST = 60;
/** Lines of a traceback: the last ones name the cause. */
const TRACEBACK_LENGTH = 500;

interface Folded {
  entry: ErrorEntry;
  times: number;
  label: string;
  end_ns: bigint;
}

/** Errors and warnings. */
export function errorsSection({ instances }: Subject): SectionText {
  const folded = new Map<string, Folded>();
  const labelOf = labelsOf(instances);
  for (const facts of instances) {
    const label = labelOf(facts);
    for (const entry of facts.errors) {
      const key = `${entry.level} ${entry.message.replace(/\d+/g, "0")}`;
      const times = Number(entry.tags?.count) || 1;
      const known = folded.get(key);
      if (!known) folded.set(key, { entry, times, label, end_ns: facts.span.ran.to_ns });
      else {
        known.times += times;
        if (known.label !== label) known.label = "several instances";
        if (entry.log_ns > known.entry.log_ns) known.entry = entry;
      }
    }
  }
  const all = [...folded.values()].sort((a, b) =>
    a.entry.log_ns > b.entry.log_ns ? -1 : a.entry.log_ns < b.entry.log_ns ? 1 : 0
  );
  const rows = all.slice(0, MOST).map(({ entry, times, label, end_ns }, at) => {
    const ago = Number(end_ns - entry.log_ns) / 1e9;
    const of = instances.length > 1 ? `, ${label}` : "";
    const traceback = entry.exception
      ? `\n  traceback ends ${
        fenced(entry.exception.slice(-2 * TRACEBACK_LENGTH), TRACEBACK_LENGTH)
      }`
      : "";
    return {
      text: `- ${entry.level}, ${number(Math.max(0, ago))} s before the end${
        times > 1 ? `, ${times} times` : ""
      }${of}: ${fenced(entry.message, 300)}${traceback}`,
      weight: (entry.level === "error" ? 560 : 330) - at,
    };
  });
  const lead = all.length > 0 ? [] : ["No warnings or errors were logged or reported."];
  return {
    section: "errors",
    title: "Errors and warnings",
    blocks: [{ lead, rows, of: "messages" }],
  };
}
