/** The key of a metrics endpoint; only its source is passed between processes. */

import { readText } from "./files.ts";

/** The source of a key: a word of the command (the key itself), a variable, or a file. */
export type KeySource = { value: string } | { variable: string } | { file: string };

/** The key, the first if there are several; `undefined` if it cannot be read. */
export function readKey(
  source: KeySource,
  env: Readonly<Record<string, string>>,
): string | undefined {
  const text = "value" in source
    ? source.value
    : "variable" in source
    ? env[source.variable]
    : readText(source.file);
  return text?.split(/[,\n]/).map((key) => key.trim()).find((key) => key !== "");
}
