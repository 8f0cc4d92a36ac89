/** Temporary directories of tests. */

/** A new empty directory, removed when the test ends. */
export async function temporaryDirectory(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempDir({ prefix: "service-test-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
