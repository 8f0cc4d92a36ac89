/** The cost of a kernel record does not grow with the length of symbols, counted in instructions. */

import assert from "node:assert/strict";
import { compilerFor } from "../../ffi/build.ts";
import { command } from "../command.ts";
import { missingCompiler, testUnless } from "../skipping.ts";
import { temporaryDirectory } from "../temporary_directory.ts";
import { buildCollector, ownInstructions } from "./cuda.ts";

const valgrind = await command(["valgrind", "--version"]).output().then(() => true, () => false);
const compiler = missingCompiler(compilerFor(Deno.build.arch));
const test = testUnless(compiler ?? (valgrind ? null : "no valgrind"));

for (const [symbols, devices] of [[1000, 1], [500, 8]] as const) {
  test(`${symbols} long symbols, devices: ${devices}, cost what short ones cost`, async () => {
    await using directory = await temporaryDirectory();
    const program = await buildCollector(directory.path);
    const load = { symbols, devices, threads: 1, millions: 0.5 };
    const short = await ownInstructions(program!, load);
    const long = await ownInstructions(program!, { ...load, longest: 2000 });
    assert(long! < 1.5 * short!, `${long} instructions are not those of short symbols, ${short}`);
  });
}
