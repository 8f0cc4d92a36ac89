/** Commands of tests: they have a temporary home, and only one file starts them. */

import assert from "node:assert/strict";
import { HOME, run } from "./command.ts";
import { ROOT } from "./layout.ts";

/** Files that may start commands: two of the product, two for tests. */
const STARTING = [
  "ffi/build.ts",
  "local/launch/fallback.ts",
  "tests/command.ts",
  "tests/suites.ts",
];

Deno.test("the home of a command is not the user's", async () => {
  const script = "echo ~; echo ${XDG_STATE_HOME-unset} ${HISTFILE-unset}";
  const { stdout } = await run(["bash", "-c", script]);
  assert.equal(stdout, `${HOME}\nunset unset\n`);
  assert.notEqual(HOME, Deno.env.get("HOME"));
});

Deno.test("only tests/command.ts starts commands for tests", async () => {
  const found: string[] = [];
  for (const top of ["core", "edge", "examples", "ffi", "local", "tests"]) {
    for await (const path of sourcesOf(top)) {
      const text = await Deno.readTextFile(ROOT + path);
      if (/\bnew Deno\.Command\b|"node:child_process"/.test(text)) found.push(path);
    }
  }
  assert.deepEqual(found.sort(), STARTING);
});

async function* sourcesOf(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(ROOT + folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* sourcesOf(path);
    else if (path.endsWith(".ts") && path !== "tests/command_test.ts") yield path;
  }
}
