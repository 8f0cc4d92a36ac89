/** Runs the test programs in C that stand beside their files, under the compiler's sanitizers. */

import assert from "node:assert/strict";
import { temporaryDirectory } from "../tests/temporary_directory.ts";
import { compilerFor } from "./build.ts";
import { run } from "../tests/command.ts";
import { missingCompiler, testUnless } from "../tests/skipping.ts";

const HERE = new URL("./", import.meta.url).pathname;
// No warnings: the build has them, and the sanitizers cause some of their own.
const FLAGS = ["-std=gnu11", "-w", "-O0", "-g"];
const SANITIZERS = ["address,undefined", "thread"];

const SEGMENT = ["segment/segment.c", "segment/file.c", "segment/tables.c"];

/** Test programs in C beside their files, and the sources that each is linked with. */
const PROGRAMS: Record<string, string[]> = {
  "activity/busy": ["activity/busy.c", ...SEGMENT],
  "activity/durations": ["activity/durations.c", ...SEGMENT],
  "activity/states": ["activity/states.c", ...SEGMENT],
  "activity/symbols": ["activity/symbols.c", "activity/reserve.c", ...SEGMENT],
  "supervisor/console": [
    ...["supervisor/console.c", "supervisor/ring.c", "supervisor/scanner.c", "supervisor/sieve.c"],
  ],
  "cuda/buffers": ["cuda/buffers.c", "activity/overhead.c", "activity/reserve.c", ...SEGMENT],
};

const compiler = compilerFor(Deno.build.arch);

for (const [name, sources] of Object.entries(PROGRAMS)) {
  for (const sanitizers of SANITIZERS) {
    const missing = missingCompiler(compiler) ??
      (await canLink(sanitizers) ? null : `no -fsanitize=${sanitizers}`);
    testUnless(missing)(`${name} holds under -fsanitize=${sanitizers}`, async () => {
      await using directory = await temporaryDirectory();
      const program = `${directory.path}/program`;
      const files = [...sources, `${name}_test.c`].map((file) => HERE + file);
      const flags = [...FLAGS, `-fsanitize=${sanitizers}`, "-pthread"];
      assert.equal(await failureOf(compiler!, [...flags, ...files, "-o", program]), "");
      assert.equal(await failureOf(program, [`${directory.path}/a/b`]), "");
    });
  }
}

/** A program's stderr, and its exit code unless that is 0. */
async function failureOf(program: string, args: string[]): Promise<string> {
  const { status: { code }, stderr } = await run([program, ...args]);
  return stderr + (code === 0 ? "" : `exit code ${code}`);
}

async function canLink(sanitizers: string): Promise<boolean> {
  await using directory = await temporaryDirectory();
  await Deno.writeTextFile(`${directory.path}/a.c`, "int main(void) { return 0; }");
  const args = [`-fsanitize=${sanitizers}`, `${directory.path}/a.c`, "-o", `${directory.path}/a`];
  return await failureOf(compiler!, args) === "" &&
    await failureOf(`${directory.path}/a`, []) === "";
}
