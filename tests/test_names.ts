/** Names of tests, as pages of `docs/` name them. */

/** What stands before the name of a test: a call, or the keyword of a method. */
const BEFORE = [/\btest\w*\(\s*/, /\)\(\s*/, /\basync /];

/**
 * Names of the tests in a file, with `…` for each part that varies; where tests are made of a table,
 * also texts in `fields` of its rows.
 */
export function testNames(file: string, fields: readonly string[] = []): Set<string> {
  const before = [...BEFORE.map(({ source }) => source), ...fields.map((name) => `\\b${name}: `)];
  const pattern = new RegExp(`(?:${before.join("|")})(["\`])(.+?)\\1`, "g");
  return new Set(
    Array.from(file.matchAll(pattern), ([, , name]) => name!.replaceAll(/\$\{[^}]*\}/g, "…")),
  );
}
