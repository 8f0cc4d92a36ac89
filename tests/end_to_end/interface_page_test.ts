/** Test of docs/interface.md: it has every sentence of the interface, and tests that exist. */

import assert from "node:assert/strict";
import { faults, sentencesOf } from "../../docs/interface.ts";
import { testNames } from "../test_names.ts";

const ROOT = new URL("../../", import.meta.url);
const SPECIFICATION = await read("docs/signals-interface.md");
const PAGE = await read("docs/interface.md");

async function read(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, ROOT));
}

async function testsIn(path: string): Promise<Set<string> | null> {
  if (!path.endsWith("_test.ts")) return null;
  return await read(path).then((text) => testNames(text), () => null);
}

Deno.test("every sentence of the interface has its tests, or the reason for none", async () => {
  assert(sentencesOf(SPECIFICATION).length > 100);
  assert.deepEqual(await faults(SPECIFICATION, { page: PAGE, testsIn }), []);
});

Deno.test("sentences are those of paragraphs, lists and rows", () => {
  const text = `# One

A text. Its end, e.g. \`this\`. \`That\` too. These follow:

| Name | Meaning |
|---|---|
| \`a\` | First. Second. |
1. An item.
`;
  assert.deepEqual(sentencesOf(text).map(({ heading, text }) => `${heading}: ${text}`), [
    ...["One: A text.", "One: Its end, e.g. `this`.", "One: `That` too."],
    ...["One: `a` · First.", "One: Second.", "One: An item."],
  ]);
});

const SMALL = "# One\n\nThis holds.\nThat departs.\nThose are not tested.\n";
const RIGHT = `# A page

Words.

## Departures

- **Some reason.** A text
  - Both: \`a_test.ts\`, \`one\`

## One

- This
  holds.
  - Local: \`a_test.ts\`,
    \`one\`
  - Hosted: \`a_test.ts\`, \`other\`
- That departs.
  - Departs: Some reason
- Those are not tested.
  - Not tested: they say nothing.
`;

/** Changes of a page without faults, and what is then found. */
const WRONG: [from: string, to: string, fault: RegExp][] = [
  ["- That departs.\n  - Departs: Some reason\n", "", /^sentence 2 must be "One: That departs\."/],
  ["holds.", "is held.", /^sentence 1 must be .* got "One: This is held\."$/],
  ["- That", "- Another sentence.\n  - Not tested: no.\n- That", /^sentence 2 must/],
  ["## One", "## Two", /^sentence 1 must be "One: .* got "Two: /],
  ["  - Not tested: they say nothing.\n", "", /^no test at each endpoint: Those are not tested\.$/],
  ["  - Hosted: `a_test.ts`, `other`\n", "", /^no test at each endpoint: This holds\.$/],
  ["Hosted: ", "Elsewhere: ", /^no test at each endpoint: This holds\.$/],
  ["`other`", "`gone`", /^no such test: `a_test\.ts`, `gone`$/],
  ["`a_test.ts`, `other`", "`b_test.ts`, `other`", /^no such test: `b_test\.ts`/],
  ["`a_test.ts`, `other`", "`a_test.ts` `other`", /^no such test: `a_test\.ts` `other`$/],
  ["Departs: Some", "Departs: Any", /^no departure: Any reason/],
  ["  - Both: `a_test.ts`, `one`\n", "", /^no test: \*\*Some reason/],
  [
    "- That departs.\n  - Departs: Some reason",
    "- That departs.\n  - Not tested: x",
    /^no sentence/,
  ],
];

Deno.test("a page that lacks a sentence, a test or a reason is found", async () => {
  const known = new Map([["a_test.ts", new Set(["one", "other"])]]);
  const of = (page: string) =>
    faults(SMALL, { page, testsIn: (path) => Promise.resolve(known.get(path) ?? null) });
  assert.deepEqual(await of(RIGHT), []);
  for (const [from, to, fault] of WRONG) {
    assert(RIGHT.includes(from), from);
    const [found = ""] = await of(RIGHT.replace(from, to));
    assert.match(found, fault);
  }
});
