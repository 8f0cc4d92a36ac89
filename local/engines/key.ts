/** The key that an engine's metrics ask for. */

import { type Engine, type EngineCommand, setting } from "./engines.ts";
import { readText } from "../base/files.ts";

/** Where the key is: in the command, in a variable, or in a file. Only the first is the key itself. */
export type KeySource = { value: string } | { variable: string } | { file: string };

/**
 * Where the key is that an engine's metrics ask for; `environment` is ours, without what the command
 * sets in its own.
 */
export function keySource(
  engine: Engine,
  command: EngineCommand,
  environment: Readonly<Record<string, string>>,
): KeySource | undefined {
  if (!engine.guarded) return undefined;
  const value = setting(engine, command, "--api-key");
  const variable = engine.variables?.["--api-key"];
  if (variable && value !== undefined && value === environment[variable]) return { variable };
  if (value !== undefined) return { value };
  const file = setting(engine, command, "--api-key-file");
  return file === undefined ? undefined : { file };
}

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
