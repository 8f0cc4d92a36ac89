/** The key that an endpoint of metrics asks for; only its source is handed from process to process. */

import { readText } from "./files.ts";

/** The source of a key: a word of the command, a variable, or a file. Only the first is the key itself. */
export type KeySource = { value: string } | { variable: string } | { file: string };

/** The key itself, the first where there are several; `undefined` where it cannot be read. */
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
