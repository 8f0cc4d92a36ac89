/** The workload, as its command line tells. */

import type { Tags } from "../tags.ts";
import type { WorkloadFacts } from "./instance_facts.ts";

/** Programs that only start the one that is meant. */
const STARTERS =
  /^(?:env|nohup|nice|numactl|taskset|stdbuf|sudo|time|exec|bash|sh|uv|uvx|poetry|conda)$/;

/** What a command line with secrets removed says. */
export function workloadOf(attributes: Tags): WorkloadFacts {
  const command_line = attributes["process.command_line"] ?? null;
  const words = (command_line ?? "").match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  return { command_line, program: programOf(words), flags: flagsOf(words) };
}

function programOf(words: readonly string[]): string | null {
  const named = words.filter((word) => !word.startsWith("-") && !/^\w+=/.test(word))
    .map((word) => word.replace(/.*\//, ""))
    .filter((word) => !STARTERS.test(word));
  const [first, second] = named;
  if (first === undefined) return null;
  return /^python[\d.]*$/.test(first) && second ? `python ${second}` : first;
}

function flagsOf(words: readonly string[]): WorkloadFacts["flags"] {
  const flags: WorkloadFacts["flags"] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (!/^--?[A-Za-z]/.test(word)) continue;
    const equals = word.indexOf("=");
    if (equals > 0) {
      flags.push([word.slice(0, equals), word.slice(equals + 1)]);
      continue;
    }
    const next = words[at + 1];
    flags.push([word, next !== undefined && !/^--?[A-Za-z]/.test(next) ? next : null]);
  }
  return flags;
}

/** The value of the first of these options that is given; `""` for one without a value. */
export function flagOf({ flags }: WorkloadFacts, ...names: string[]): string | undefined {
  const found = flags.find(([name]) => names.includes(name.replaceAll("_", "-")));
  return found && (found[1] ?? "");
}
