/** Detection of inference engines by their commands: the URL of their metrics, or the reason for none. */

import { readEngineConfig } from "./config.ts";
import type { KeySource } from "../base/key.ts";
import { keySource } from "./key.ts";
import {
  type Engine,
  type EngineCommand,
  ENGINES,
  flag,
  isSet,
  sameFlag,
  setting,
} from "./engines.ts";
import { unwrap } from "./wrappers.ts";

/** The command to start, and its engine. */
export interface Detection {
  /** The given command, with `changes`. */
  command: string[];
  /** Name of the engine, if it starts one. */
  engine?: string;
  /** URLs of the engine's metrics: none with a reason, several where it has a server for each rank. */
  urls: string[];
  /** Source of the key for these metrics. */
  key?: KeySource;
  /** What a read of them does to the engine. */
  effect?: string;
  /** Messages to the user, one for each change of the command. */
  changes: string[];
  /** The reason if there are no URLs. */
  reason?: string;
}

/** The environment, and the settings of the user for metrics. */
export interface DetectOptions {
  env?: Readonly<Record<string, string>>;
  /** The port of the engine's metrics, instead of that of its flags. */
  metricsPort?: number;
  /** Whether the command runs already: then it is not changed. */
  isRunning?: boolean;
  /** Reads the engine's file of flags; `null` if it cannot be read. */
  readText?: (path: string) => string | null;
}

/** Detects the engine of `command` by its words and its files only: no port is tried. */
export function detect(command: readonly string[], options: DetectOptions = {}): Detection {
  const { metricsPort, env: environment = {}, isRunning, readText = () => null } = options;
  const unwrapped = unwrap(command, environment);
  const plain = { command: [...command], changes: [] };
  const engine = unwrapped && ENGINES.find(({ is }) => is(unwrapped.program, unwrapped.args));
  if (!engine || unwrapped.args.some((word) => /^(?:-h|--help|--version)$/.test(word))) {
    if (metricsPort) return { ...plain, urls: [`http://127.0.0.1:${metricsPort}/metrics`] };
    return { ...plain, urls: [], reason: unwrapped ? NO_ENGINE : NOT_UNDERSTOOD };
  }
  const { args, env } = unwrapped;
  const isVerbatim = unwrapped.isVerbatim && !isRunning;
  const { name } = engine;
  const file = engine.configurable ? flag(args, "--config") : undefined;
  const text = file === undefined ? undefined : readText(file);
  const config = typeof text === "string" ? readEngineConfig(text) : text;
  const engineCommand: EngineCommand = { args, env, config };
  const change = changeOf(engine, engineCommand);
  const left = change &&
    (engine.leaves?.(engineCommand) ?? (isVerbatim ? undefined : NOT_CHANGED));
  const started = change && left === undefined
    ? { command: change.apply(command), changes: [`${change.text} (${name} metrics)`] }
    : plain;
  const hidden = engine.hidden(engineCommand) ?? (left && `${left}: ${change!.advice}`) ??
    hiddenInFile(engine, engineCommand, file);
  const port = setting(engine, engineCommand, "--port") ?? String(engine.port);
  const ports = metricsPort ? [metricsPort] : engine.ports?.(engineCommand, Number(port)) ?? [port];
  const urls = ports.map((port) => urlOf(engine, engineCommand, port));
  const wrong = urls.find((url) => !URL.canParse(url));
  const reason = metricsPort
    ? undefined
    : hidden ?? (port === "0" ? NO_PORT : wrong && `no address: ${wrong}`);
  const key = keySource(engine, engineCommand, environment);
  const effect = engine.effect(engineCommand);
  return {
    ...started,
    engine: name,
    ...(reason === undefined
      ? { urls, ...(key && { key }), ...(effect !== undefined && { effect }) }
      : { urls: [], reason: `${name}: ${reason}` }),
  };
}

const NO_ENGINE = "no engine is known by the command";

const NAME_THE_PORT = "name the port with --metrics-port";

const NOT_UNDERSTOOD = `a script or a wrapper in the command is not understood: ${NAME_THE_PORT}`;

const NOT_CHANGED = "it runs from a script, which is not changed";

const NO_PORT = "with port 0 the system picks its port";

/** The reason why the file of `--config` hides the metrics. */
function hiddenInFile(
  { refuses }: Engine,
  { args, config }: EngineCommand,
  file: string | undefined,
): string | undefined {
  if (config === null && flag(args, "--port") === undefined) {
    return `its port may be in ${file}, which cannot be read: ${NAME_THE_PORT}`;
  }
  return refuses && /^(?:true|yes|on|1)$/i.test(config?.[refuses] ?? "")
    ? `remove ${refuses.slice(2)} from ${file} for its metrics`
    : undefined;
}

interface Change {
  text: string;
  /** Advice to the user if the change cannot be made. */
  advice: string;
  apply(command: readonly string[]): string[];
}

/** The change with which an engine serves metrics, if it needs one. */
function changeOf(engine: Engine, command: EngineCommand): Change | undefined {
  const { needs, refuses } = engine;
  const { args } = command;
  if (refuses && args.some((word) => sameFlag(word, refuses))) {
    return {
      text: `removed ${refuses} from the command`,
      advice: `remove ${refuses} for its metrics`,
      // The engine's words are the last of the command.
      apply: (command) => [
        ...command.slice(0, command.length - args.length),
        ...args.filter((word) => !sameFlag(word, refuses)),
      ],
    };
  }
  if (!needs || isSet(engine, command, needs)) return undefined;
  return {
    text: `added ${needs} to the command`,
    advice: `add ${needs} for its metrics`,
    apply: (command) => [...command, needs],
  };
}

function urlOf(engine: Engine, command: EngineCommand, port: number | string): string {
  const value = (name: string) => setting(engine, command, name);
  const host = value("--host") ?? "127.0.0.1";
  const tls = value("--ssl-certfile") ?? value("--ssl-cert-file");
  const prefix = value("--api-prefix") ?? "";
  return `${tls ? "https" : "http"}://${reachable(host)}:${port}${prefix}${engine.path}`;
}

/** The address at which a server that listens on `host` is reached from here. */
function reachable(host: string): string {
  if (host === "" || host === "0.0.0.0") return "127.0.0.1";
  if (host === "::" || host === "[::]") return "[::1]";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
