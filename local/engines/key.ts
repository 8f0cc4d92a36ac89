/** The source of the key for an engine's metrics. */

import type { KeySource } from "../base/key.ts";
import { type Engine, type EngineCommand, setting } from "./engines.ts";

/**
 * Source of the key for an engine's metrics; `environment` is that of the run, without the variables
 * that the command sets.
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
