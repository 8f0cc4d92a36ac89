/** Suites of `deno task test`, and their summary. */

import assert from "node:assert/strict";
import { ROOT } from "./layout.ts";
import { readOutcome, SUITES, summary } from "./suites.ts";

const PRINTED = `./core/a_test.ts => a tag is read ... ok (8ms)
./core/b_test.ts => fractions of a second ... FAILED (12ms)
./core/c_test.ts => a disk that fails (skipped: no C compiler) ... ignored (0ms)
./core/d_test.ts => one
more ... ok (2 steps) (1s)

 ERRORS

fractions of a second => ./core/b_test.ts:1:6
error: Error: 3 passed | 9 failed

FAILED | 2 passed (2 steps) | 1 failed | 1 ignored (7s)
`;

Deno.test("a suite is summed up by its counts, its failures and the reasons of what it skipped", () => {
  const outcome = readOutcome("core", 7.25, PRINTED);
  const other = readOutcome("edge", 2, "ok | 40 passed | 0 failed (2s)\n");
  assert.deepEqual(summary([outcome, other]), [
    "suite          passed   failed  skipped  seconds",
    "core                2        1        1      7.3",
    "edge               40        0        0      2.0",
    "failed: ./core/b_test.ts => fractions of a second",
    "1 skipped: no C compiler",
    "42 passed, 1 failed",
  ]);
});

Deno.test("a suite that cannot be run has failed", () => {
  assert.equal(readOutcome("core", 1, "").failed, 1);
});

Deno.test("every test file is in one suite", async () => {
  const paths = Object.values(SUITES).flat();
  for await (const file of testFiles("")) {
    const holding = paths.filter((path) => file === path || file.startsWith(`${path}/`));
    assert.equal(holding.length, 1, file);
  }
});

Deno.test("every test that may be skipped says why", async () => {
  for await (const file of testFiles("")) {
    const text = await Deno.readTextFile(ROOT + file);
    assert.doesNotMatch(text, /\bignore(: |,$)/m, `${file}: testUnless() is for this`);
  }
});

async function* testFiles(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(ROOT + folder)) {
    const path = folder + name;
    if (isDirectory && !/^(\.git|node_modules|ffi\/build)$/.test(path)) {
      yield* testFiles(`${path}/`);
    } else if (name.endsWith("_test.ts")) yield path;
  }
}
