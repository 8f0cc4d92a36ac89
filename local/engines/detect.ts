/** Knows an inference engine by its command: where its metrics are, and what keeps it from serving them. */

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

/** How a command is started and what is known of it. */
export interface Detection {
  /** What to start: the command as given, but for what `changes` says. */
  command: string[];
  /** Name of the engine, if it is one. */
  engine?: string;
  /** Where the engine serves its metrics. */
  url?: string;
  /** Where the key is that these metrics ask for. */
  key?: KeySource;
  /** What was changed, in words, for the user. */
  changes: string[];
  /** Why there is no URL. */
  why?: string;
}

/** What the user named. */
export interface DetectOptions {
  env?: Readonly<Record<string, string>>;
  /** The port of the engine's metrics, which wins over what its flags say. */
  metricsPort?: number;
  /** Reads the engine's file of flags; `null` where it cannot. */
  readText?: (path: string) => string | null;
}

/** What `command` launches, looked at from outside: no port is tried. */
export function detect(command: readonly string[], options: DetectOptions = {}): Detection {
  const { metricsPort, env: environment = {}, readText = () => null } = options;
  const { program, args, env, verbatim } = unwrap(command, environment);
  const engine = ENGINES.find(({ is }) => is(program, args));
  const plain = { command: [...command], changes: [] };
  if (!engine || args.some((word) => /^(?:-h|--help|--version)$/.test(word))) {
    const url = metricsPort && `http://127.0.0.1:${metricsPort}/metrics`;
    return url ? { ...plain, url } : { ...plain, why: "no engine is known by the command" };
  }
  const { name } = engine;
  const file = engine.configurable ? flag(args, "--config") : undefined;
  const text = file === undefined ? undefined : readText(file);
  const config = typeof text === "string" ? readEngineConfig(text) : text;
  const seen: EngineCommand = { args, env, config };
  const change = changeOf(engine, seen);
  const launched = change && verbatim
    ? { command: change.apply(command), changes: [`${change.text} (${name} metrics)`] }
    : plain;
  const hidden = change && !verbatim
    ? `it runs from a script, which is not changed: ${change.advice}`
    : engine.hidden(seen) ?? hiddenInFile(engine, seen, file);
  const port = metricsPort ?? setting(engine, seen, "--port") ?? engine.port;
  const url = urlOf(engine, seen, port);
  const why = metricsPort
    ? undefined
    : hidden ?? (port === "0" ? NO_PORT : URL.canParse(url) ? undefined : `no address: ${url}`);
  const key = keySource(engine, seen, environment);
  return {
    ...launched,
    engine: name,
    ...(why === undefined ? { url, ...(key && { key }) } : { why: `${name}: ${why}` }),
  };
}

const NO_PORT = "with port 0 the system picks its port";

/** What the file of `--config` keeps from us. */
function hiddenInFile(
  { refuses }: Engine,
  { args, config }: EngineCommand,
  file: string | undefined,
): string | undefined {
  if (config === null && flag(args, "--port") === undefined) {
    return `its port may be in ${file}, which is not read: --metrics-port names it`;
  }
  return refuses && /^(?:true|yes|on|1)$/i.test(config?.[refuses] ?? "")
    ? `remove ${refuses.slice(2)} from ${file} for its metrics`
    : undefined;
}

interface Change {
  text: string;
  /** What the user may do where it cannot be made. */
  advice: string;
  apply(command: readonly string[]): string[];
}

/** The one change that gives an engine its metrics, where it needs one. */
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

/** Where a server that listens on `host` is reached from here. */
function reachable(host: string): string {
  if (host === "" || host === "0.0.0.0") return "127.0.0.1";
  if (host === "::" || host === "[::]") return "[::1]";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
