/** The corpus: lines of real programs in the folder `corpus`, and what the console says of each. */

import { createConsole } from "../console.ts";

/** What a line of the corpus is. */
export type Verdict = "error" | "warning" | "ordinary";

/** A line of the corpus. */
export interface CorpusLine {
  /** The programs that write such lines. */
  programs: string;
  text: string;
  expected: Verdict;
  /** What the console says of it; of several findings the worst. */
  found: Verdict;
}

const FILES: readonly (readonly [file: string, expected: Verdict])[] = [
  ["errors.txt", "error"],
  ["warnings.txt", "warning"],
  ["ordinary.txt", "ordinary"],
];

/** The folders of the lines: `second` has those that were written without sight of the rules. */
const FOLDERS = ["corpus", "corpus/second"];

/** All lines of the corpus, each judged alone between ordinary lines. */
export function judgeCorpus(): CorpusLine[] {
  return FOLDERS.flatMap((folder) =>
    FILES.flatMap(([file, expected]) => {
      let programs = "";
      return Deno.readTextFileSync(new URL(`${folder}/${file}`, import.meta.url))
        .trimEnd().split("\n").flatMap((text) => {
          if (!text.startsWith("## ")) return [{ programs, text, expected, found: verdict(text) }];
          programs = text.slice(3);
          return [];
        });
    })
  );
}

/** The corpus' figures as a table of Markdown. */
export function corpusTable(lines: readonly CorpusLine[]): string {
  const rows = FILES.map(([, expected]) => {
    const some = lines.filter((line) => line.expected === expected);
    const count = (found: Verdict) => String(some.filter((line) => line.found === found).length);
    return [
      NAMES[expected],
      String(some.length),
      count("error"),
      count("warning"),
      count("ordinary"),
    ];
  });
  const header = ["Lines that are", "Number", "Told as errors", "As warnings", "Not told"];
  const widths = header.map((_, i) => Math.max(...[header, ...rows].map((row) => row[i]!.length)));
  return [header, widths.map((width) => "-".repeat(width)), ...rows]
    .map((row) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |\n`).join("");
}

const NAMES = { error: "errors", warning: "warnings", ordinary: "ordinary" } as const;

function verdict(text: string): Verdict {
  const levels: Verdict[] = [];
  const console = createConsole({
    report: ({ level }) => levels.push(level === "error" ? "error" : "warning"),
    now_ns: () => 0n,
  });
  const bytes = new TextEncoder().encode(`step 1\n${text}\nstep 2\n`);
  console.write({ stream: 2, time_ns: 0n, bytes });
  console.end({ code: 0, signal: null }, 0n);
  return levels.includes("error") ? "error" : levels[0] ?? "ordinary";
}
