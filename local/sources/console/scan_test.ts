/** The scan: it misses no line that a recogniser takes, and the native one finds the same. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { run } from "../../../tests/command.ts";
import { missing } from "../../../tests/end_to_end/supervisor.ts";
import { testUnless } from "../../../tests/skipping.ts";
import { openSieve } from "../../base/native.ts";
import { createConsole } from "./console.ts";
import { FORMATS } from "./log_formats.ts";
import { NEEDLES } from "./needles.ts";
import { type FindNeedle, findNeedle } from "./scan.ts";
import { judgeCorpus } from "./testdata/corpus.ts";

const LIBRARY = new URL("../../../ffi/build/libconsole.so", import.meta.url).pathname;
const sieve = openSieve(LIBRARY, NEEDLES);
const encoder = new TextEncoder();
const lines = [...judgeCorpus().map(({ text }) => text), ...FORMATS.map(({ example }) => example)];

/** What is told of a text, alone. */
function told(text: string, find?: FindNeedle): string[] {
  const entries: string[] = [];
  const console = createConsole({
    report: ({ level, message }) => entries.push(`${level}: ${message}`),
    now_ns: () => 0n,
    find,
  });
  console.write({ stream: 2, time_ns: 0n, bytes: encoder.encode(`${text}\n`) });
  console.end({ code: 0, signal: null }, 0n);
  return entries;
}

/** Errors of programs with the texts that the C library has for them. */
const { stdout: texts } = await run([
  "python3",
  "-c",
  "import os\nfor i in range(1, 134): print(os.strerror(i))",
]);
const failures = texts.trim().split("\n").map((text) => `cp: it: ${text}`);

/** Whatever it is given may be an error. */
const findAnything: FindNeedle = (_, from, end) => from < end ? from : -1;

Deno.test("every line that a recogniser takes has a needle, of the corpus and of the C library", () => {
  assert(failures.filter((line) => told(line, findAnything).length > 0).length > 20);
  const missed = [...lines, ...failures].filter((line) =>
    told(line, findAnything).join() !== told(line).join()
  );
  assert.deepEqual(missed, []);
});

testUnless(missing)("the native search finds what the other one does, in any text", () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.constantFrom(...NEEDLES, ...lines).map((text) => encoder.encode(text)),
    fc.constantFrom(...NEEDLES).map((text) => encoder.encode(text.toUpperCase())),
    fc.constantFrom(...NEEDLES).map((text) => encoder.encode(text).map((byte) => byte ^ 64)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.nat(30), fc.nat(9), (pieces, cut, less) => {
      const bytes = Uint8Array.from(pieces.flatMap((piece) => [...piece]));
      const from = Math.min(cut, bytes.length);
      const end = Math.max(from, bytes.length - less);
      assert.equal(sieve!(bytes, from, end), findNeedle(bytes, from, end));
    }),
    { numRuns: 2_000 },
  );
});
