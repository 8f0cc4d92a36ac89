/** Tests of what not every machine has: where it is missing they are skipped, and their names say why. */

/** Registers a test, as `Deno.test` does. */
export type Test = (name: string, fn: (t: Deno.TestContext) => void | Promise<void>) => void;

/** Registers tests that are skipped where something is missing: the reason, or `null`. */
export function testUnless(missing: string | null): Test {
  return missing === null
    ? (name, fn) => Deno.test(name, fn)
    : (name, fn) => Deno.test({ name: `${name} (skipped: ${missing})`, ignore: true, fn });
}

/** What tests that compile C are missing here, or `null`. */
export function missingCompiler(compiler: unknown): string | null {
  if (Deno.build.os !== "linux") return "not Linux";
  return compiler ? null : "no C compiler";
}
