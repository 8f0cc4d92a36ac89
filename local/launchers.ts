/** Knows an inference engine by its command: where its metrics are, and what keeps it from serving them. */

import { type Engine, ENGINES, flag, has, sameFlag } from "./engines.ts";
import { unwrap } from "./wrappers.ts";

/** How a command is started and what is known of it. */
export interface Launch {
  /** What to start: the command as given, but for what `changes` says. */
  command: string[];
  /** Name of the engine, if it is one. */
  engine?: string;
  /** Where the engine serves its metrics. */
  url?: string;
  /** What was changed, in words, for the user. */
  changes: string[];
  /** Why there is no URL. */
  why?: string;
}

/** What the user named. */
export interface LaunchOptions {
  env?: Readonly<Record<string, string>>;
  /** The port of the engine's metrics, which wins over what its flags say. */
  metricsPort?: number;
}

/** What `command` launches, looked at from outside: no file is read and no port is tried. */
export function launch(command: readonly string[], options: LaunchOptions = {}): Launch {
  const { metricsPort, env: environment } = options;
  const { program, args, env, verbatim } = unwrap(command, environment);
  const engine = ENGINES.find(({ is }) => is(program, args));
  const plain = { command: [...command], changes: [] };
  if (!engine || args.some((word) => /^(?:-h|--help|--version)$/.test(word))) {
    const url = metricsPort && `http://127.0.0.1:${metricsPort}/metrics`;
    return url ? { ...plain, url } : { ...plain, why: "no engine is known by the command" };
  }
  const { name } = engine;
  const change = changeOf(engine, args, env);
  const launched = change && verbatim
    ? { command: change.apply(command, args), changes: [`${change.text} (${name} metrics)`] }
    : plain;
  const hidden = change && !verbatim
    ? `it runs from a script, which is not changed: ${change.advice}`
    : engine.hidden({ args, env });
  const url = urlOf(engine, args, { env, metricsPort });
  const why = metricsPort
    ? undefined
    : hidden ?? (URL.canParse(url) ? undefined : `no address: ${url}`);
  return {
    ...launched,
    engine: name,
    ...(why === undefined ? { url } : { why: `${name}: ${why}` }),
  };
}

interface Change {
  text: string;
  /** What the user may do where it cannot be made. */
  advice: string;
  apply(command: readonly string[], args: readonly string[]): string[];
}

/** The one change that gives an engine its metrics, where it needs one. */
function changeOf(
  { needs, refuses }: Engine,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Change | undefined {
  if (refuses && has(args, refuses)) {
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
  if (!needs || has(args, needs.flag)) return undefined;
  if (needs.variable && /^(?:1|on|true|enabled)$/i.test(env[needs.variable] ?? "")) {
    return undefined;
  }
  return {
    text: `added ${needs.flag} to the command`,
    advice: `add ${needs.flag} for its metrics`,
    apply: (command) => [...command, needs.flag],
  };
}

function urlOf(
  { port: usual, path, variables }: Engine,
  args: readonly string[],
  { env, metricsPort }: { env: Readonly<Record<string, string>>; metricsPort?: number },
): string {
  const variable = (name: string | undefined) => (name && env[name]) || undefined;
  const port = metricsPort ?? flag(args, "--port") ?? variable(variables?.port) ?? usual;
  const host = flag(args, "--host") ?? variable(variables?.host) ?? "127.0.0.1";
  const tls = ["--ssl-certfile", "--ssl-cert-file"].some((name) => flag(args, name) !== undefined);
  return `${tls ? "https" : "http"}://${reachable(host)}:${port}${path}`;
}

/** Where a server that listens on `host` is reached from here. */
function reachable(host: string): string {
  if (host === "" || host === "0.0.0.0") return "127.0.0.1";
  if (host === "::" || host === "[::]") return "[::1]";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
