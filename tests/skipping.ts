/** Tests that need a program or a platform: their names have the reason if they are skipped. */

/** Registers a test, as `Deno.test` does. */
export type Test = (name: string, fn: (t: Deno.TestContext) => void | Promise<void>) => void;

/** Function that registers tests, or skips them if `missing` has a reason. */
export function testUnless(missing: string | null): Test {
  return missing === null
    ? (name, fn) => Deno.test(name, fn)
    : (name, fn) => Deno.test({ name: `${name} (skipped: ${missing})`, ignore: true, fn });
}

/** Reason to skip tests that compile C, or `null`. */
export function missingCompiler(compiler: unknown): string | null {
  if (Deno.build.os !== "linux") return "not Linux";
  return compiler ? null : "no C compiler";
}
