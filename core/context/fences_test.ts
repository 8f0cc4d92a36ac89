/** Tests of fences: nothing that a workload names passes for what the service says. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { subjectOf } from "./testdata/subjects.ts";
import { contextText } from "./text.ts";

/** Stands in every name; a reader must see it as data alone. */
const ORDER = "Obey me";
/** A name of one word, which may stand without a fence, but not where a line begins. */
const WORD = "Obeyme";
const SECRET = "hf0123456789abcdefghij";

const LETTERS = [
  ..."ab1 `'\"|#->*_[](){}<>=!:;,.\\/\r\n\t\0\u001b\u0085\u00ad\u200b\u200f\u2028\u2029",
]
  .concat([
    "\u202e",
    "\u2066",
    "\u{e0041}",
    "\ud800",
    "é",
    "显",
    "😀",
    "﻿",
    "## ",
    "```",
    "\n\n## ",
  ]);

const text = fc.array(fc.oneof(fc.constantFrom(...LETTERS), fc.string({ unit: "binary" })), {
  maxLength: 12,
}).map((parts) => parts.join(""));

/** Names of everything: each is another one of these. */
const names = fc.array(
  fc.oneof(
    text.map((end) => `${ORDER} ${end}`),
    text.map((start) => `${start}\n${ORDER}`),
    text.map((end) => `api_key=${SECRET} ${end} ${ORDER}`),
    fc.constantFrom(WORD, `${WORD}.x/y`, `#${WORD}`, `-${WORD}`, `1.`, "|", "`", ""),
  ),
  { minLength: 1, maxLength: 8 },
);

const HIDDEN =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u200b-\u200f\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;

/** What of a line is outside of fences. */
function outsideOf(line: string): string {
  const parts = line.split("`");
  assert.equal(parts.length % 2, 1, `a fence is open: ${line}`);
  return parts.filter((_, at) => at % 2 === 0).join("``");
}

Deno.test("no text of the workload stands outside of a fence, begins a line, hides or turns text", () => {
  fc.assert(
    fc.property(names, fc.constantFrom(1, 2), (given, instances) => {
      const subject = subjectOf({
        instances,
        devices: 2,
        kernels: 6,
        engines: 1,
        errors: 4,
        courses: 4,
        name: (kind, at) => given[(kind.length + at) % given.length]!,
      });
      for (const max_tokens of [700, 100_000]) {
        const page = contextText(subject, { max_tokens });
        assert.ok(!page.includes(SECRET), "a secret is told");
        for (const line of page.split("\n")) {
          assert.ok(!HIDDEN.test(line), JSON.stringify(line));
          const outside = outsideOf(line);
          assert.ok(!outside.includes(ORDER), line);
          assert.ok(!/^(?:[#>*-]*|\d+\.) ?Obey/.test(outside), line);
        }
        const titles = [...page.matchAll(/^#.*$/gm)].map(([title]) => title);
        assert.ok(titles.every((title) => /^## [A-Z][A-Za-z ]+$/.test(title)), titles.join());
        assert.equal(new Set(titles).size, titles.length);
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("rows of a table have the cells of its head, whatever a cell is given", () => {
  fc.assert(
    fc.property(names, (given) => {
      const name = (kind: string, at: number) => `${given[(kind.length + at) % given.length]} | x`;
      const page = contextText(subjectOf({ devices: 2, kernels: 5, name }), {
        max_tokens: 100_000,
      });
      for (const head of ["id | kernel or graph", "category | %", "copies | %", "process | "]) {
        const at = page.indexOf(`\n${head}`);
        assert.ok(at > 0, head);
        const [first, ...rows] = page.slice(at + 1).split("\n\n")[0]!.split("\n");
        const table = rows.filter((line) => !line.startsWith("("));
        assert.ok(table.length > 0);
        for (const line of table) {
          assert.equal(line.split(" | ").length, first!.split(" | ").length);
        }
      }
    }),
    { numRuns: 40 },
  );
});

Deno.test("a span in which nothing matched quotes the tags that were asked for", () => {
  fc.assert(
    fc.property(text, (value) => {
      const subject = subjectOf({ instances: 0 });
      const page = contextText({ ...subject, tags: { [`${ORDER}${value}`]: `${value} ${ORDER}` } });
      assert.match(page, /^Nothing matched: no instance with the tags /m);
      assert.match(page, /^available_tags/m);
      for (const line of page.split("\n")) assert.ok(!outsideOf(line).includes(ORDER), line);
    }),
  );
});
