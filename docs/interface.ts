/** Sentences of `docs/signals-interface.md`, and the tests that `docs/interface.md` names for them. */

/** A sentence or a row of a table, below a heading. */
export interface Sentence {
  heading: string;
  /** The cells of a row have ` · ` between them. */
  text: string;
}

/** A sentence with what a page says of it. */
export interface Held extends Sentence {
  notes: Note[];
}

/** One line about a sentence. */
export interface Note {
  /** Where a test holds the sentence, or why none does. */
  label: string;
  /** The test, the name of a departure, or a reason. */
  text: string;
}

/** Heading of the departures, each of which begins with its name in bold. */
const DEPARTURES = "Departures";

/** Names of the tests in a file, or `null` if there is no such file. */
export type NamesOfTests = (path: string) => Promise<Set<string> | null>;

/** The sentences of a specification; headings, and texts that end in a colon, say nothing. */
export function sentencesOf(specification: string): Sentence[] {
  const found: Sentence[] = [];
  let heading = "";
  const lines = specification.split("\n");
  for (const [i, line] of lines.entries()) {
    heading = headingOf(line) ?? heading;
    if (line === "" || line.startsWith("#") || isRule(line) || isRule(lines[i + 1])) continue;
    const text = line.startsWith("|")
      ? line.split("|").slice(1, -1).map((cell) => cell.trim()).join(" · ")
      : line.replace(/^\d+\. /, "");
    const sentences = text.split(/(?<=\.)(?<!e\.g\.) (?=[A-Z`])/).filter((one) =>
      !one.endsWith(":")
    );
    found.push(...sentences.map((text) => ({ heading, text })));
  }
  return found;
}

function headingOf(line: string): string | undefined {
  return /^#+ (.*)$/.exec(line)?.[1];
}

/** Whether a line divides the header of a table from its rows. */
function isRule(line = ""): boolean {
  return /^\|[-| ]+\|$/.test(line);
}

/** The items of a page below its headings, with the notes below each item. */
export function heldSentences(page: string): Held[] {
  const found: Held[] = [];
  let heading = "";
  // Lines that go on are part of the one before.
  const joined = page.replaceAll(/\n +(?!- |\s)/g, " ");
  for (const line of joined.split("\n")) {
    heading = headingOf(line) ?? heading;
    const [, indent, text = ""] = /^( *)- (.*)$/.exec(line) ?? [];
    if (indent === undefined) continue;
    if (indent === "") found.push({ heading, text, notes: [] });
    else {
      const [, label = "", rest = ""] = /^([\w ]+): (.*)$/.exec(text) ?? [];
      found.at(-1)?.notes.push({ label, text: rest });
    }
  }
  return found;
}

/** What is wrong with a page about a specification. */
export async function faults(
  specification: string,
  { page, testsIn }: { page: string; testsIn: NamesOfTests },
): Promise<string[]> {
  const items = heldSentences(page);
  const departures = items.filter(({ heading }) => heading === DEPARTURES);
  const held = items.filter(({ heading }) => heading !== DEPARTURES);
  const named = held.flatMap(({ notes }) =>
    notes.filter(({ label }) => label === "Departs").map(({ text }) => text)
  );
  const known = departures.map(({ text }) => /^\*\*(.+?)\.?\*\*/.exec(text)?.[1] ?? text);
  return [
    ...difference(sentencesOf(specification), held),
    ...held.flatMap(withoutTest),
    ...named.filter((name) => !known.includes(name)).map((name) => `no departure: ${name}`),
    ...known.filter((name) => !named.includes(name)).map((name) => `no sentence departs: ${name}`),
    ...departures.filter(({ notes }) => !notes.some(isTest)).map(({ text }) => `no test: ${text}`),
    ...await missingTests(items, testsIn),
  ];
}

/** The first sentence that differs, if one does. */
function difference(expected: Sentence[], found: Sentence[]): string[] {
  const line = (one?: Sentence) => one && `${one.heading}: ${one.text}`;
  for (let i = 0; i < Math.max(expected.length, found.length); i++) {
    const [is, must] = [line(found[i]), line(expected[i])];
    if (is !== must) return [`sentence ${i + 1} must be "${must}": got "${is}"`];
  }
  return [];
}

/** Labels that together hold a sentence at each endpoint that it is about. */
const HOLDING = /^(Both(,Local)?(,Hosted)?|Local,Hosted|(Local|Hosted) only)$/;

/** Labels of tests. */
const LABELS = ["Both", "Local", "Hosted", "Local only", "Hosted only"];

function isTest({ label }: Note): boolean {
  return LABELS.includes(label);
}

/** What a sentence lacks: tests at each endpoint, a departure, or a reason for none. */
function withoutTest({ text, notes }: Held): string[] {
  const labels = new Set(notes.map(({ label }) => label));
  const tests = LABELS.filter((label) => labels.delete(label)).join();
  const departs = labels.delete("Departs");
  const isHeld = HOLDING.test(tests) || tests === "" && departs;
  const isLeft = tests === "" && !departs && labels.delete("Not tested");
  return (isHeld || isLeft) && labels.size === 0 ? [] : [`no test at each endpoint: ${text}`];
}

/** The tests that are named and do not exist. */
async function missingTests(items: readonly Held[], testsIn: NamesOfTests): Promise<string[]> {
  const missing: string[] = [];
  for (const { text } of items.flatMap(({ notes }) => notes.filter(isTest))) {
    const [, path = "", name = ""] = /^`(.+?)`, `(.+)`$/.exec(text) ?? [];
    if (!(await testsIn(path))?.has(name)) missing.push(`no such test: ${text}`);
  }
  return missing;
}
