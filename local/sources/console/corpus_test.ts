/** The corpus of console lines: what fails is told, what does not is not. */

import assert from "node:assert/strict";
import { createConsole } from "./console.ts";
import { corpusTable, judgeCorpus } from "./testdata/corpus.ts";

const lines = judgeCorpus();

/** Lines of one kind, and those of them that are told as something else. */
function judged(expected: string) {
  const some = lines.filter((line) => line.expected === expected);
  return { count: some.length, wrong: some.filter(({ found }) => found !== expected) };
}

Deno.test("lines of real programs are told as what they are, at the rates that the docs state", () => {
  console.log(corpusTable(lines));
  const [errors, warnings, ordinary] = ["error", "warning", "ordinary"].map(judged);
  assert(errors!.count >= 500 && warnings!.count >= 60 && ordinary!.count >= 800);
  const all = [errors!, warnings!, ordinary!].flatMap(({ wrong }) => wrong);
  const listing = all.map(({ expected, found, text }) => `${expected} told as ${found}: ${text}`)
    .join("\n");
  assert(errors!.wrong.length <= 0.05 * errors!.count, listing);
  assert(warnings!.wrong.length <= 0.05 * warnings!.count, listing);
  assert(ordinary!.wrong.length <= 0.01 * ordinary!.count, listing);
});

Deno.test("no line takes long, however long it is and whatever it repeats", () => {
  const heads = [
    "",
    "error: ",
    "ERROR ",
    "prog: ",
    "Error in f ",
    'Exception in thread "a" ',
    "panic: ",
  ];
  const parts = [
    "1,1 ",
    "1 ",
    "± 1",
    "a ",
    "a: ",
    "a.",
    "a at ",
    "error: ",
    "*** ",
    "- ",
    "1",
    "[",
    "\\S:",
  ];
  for (const head of heads) {
    for (const part of parts) {
      const text = head + part.repeat(60_000 / part.length) + " error not !\n";
      const console = createConsole({ report: () => {}, now_ns: () => 0n });
      const start_ms = performance.now();
      console.write({ stream: 2, time_ns: 0n, bytes: new TextEncoder().encode(text) });
      console.end({ code: 0, signal: null }, 0n);
      const ms = performance.now() - start_ms;
      // A pattern that takes quadratic time needs seconds.
      assert(ms < 1_000, `${head}${part}… takes ${ms} ms`);
    }
  }
});
