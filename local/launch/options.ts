/** What the command line and the environment ask for. */

import { parseArgs } from "node:util";
import { DEFAULT_HOST } from "../serve/listener.ts";

/** How one run was asked for. */
export interface Options {
  /** The workload, byte for byte. */
  command: string[];
  listenHost: string;
  listenPort: number;
  /** Whether the port was asked for, so that no other will do. */
  portNamed: boolean;
  metricsPort?: number;
  metricsUrl?: string;
  cudaGraphTrace: "graph" | "node";
  /** Tags of the instance from `--tag`. */
  tags: Record<string, string>;
}

/** What to do: run a workload, or print a text and leave. */
export type Request = { run: Options } | { print: "help" | "version" };

/** A mistake on the command line or in the environment: say it, and exit with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Text of `--help`. */
export const HELP = `Usage: service-run [flags] [--] <command> [arguments]

Runs the command unmodified, measures it from the side and serves what it measured at
http://127.0.0.1:18259/signals while it runs. With SERVICE_API_KEY and SERVICE_API_BASE
set, also uploads it.

Flags                            Environment
  --listen-host <address>        SERVICE_LISTEN_HOST       where to serve (127.0.0.1)
  --listen-port <port>           SERVICE_LISTEN_PORT       (18259; 0: any free one)
  --metrics-port <port>          SERVICE_METRICS_PORT      the engine's Prometheus port
  --metrics-url <url>            SERVICE_METRICS_URL       the engine's Prometheus endpoint
  --cuda-graph-trace graph|node  SERVICE_CUDA_GRAPH_TRACE  granularity of CUDA graphs (graph)
  --tag <key>=<value>            SERVICE_TAG_<KEY>         a tag of the instance; repeatable
  --version                                                print the version
  --help                                                   print this

Environment only: SERVICE_API_KEY, SERVICE_API_BASE, SERVICE_SNAPSHOT_FILE, SERVICE_DEBUG=1.
`;

const FLAGS = {
  "listen-host": { type: "string" },
  "listen-port": { type: "string" },
  "metrics-port": { type: "string" },
  "metrics-url": { type: "string" },
  "cuda-graph-trace": { type: "string" },
  tag: { type: "string", multiple: true },
  version: { type: "boolean" },
  help: { type: "boolean" },
} as const;

/**
 * What `args` (flags, then the command) and the environment ask for; a flag wins over its variable.
 *
 * @throws {UsageError} If a flag is not known, a value is not allowed, or there is no command.
 */
export function readOptions(args: string[], env: Record<string, string>): Request {
  const { flags, command } = split(args);
  if (flags.help) return { print: "help" };
  if (flags.version) return { print: "version" };
  if (command.length === 0) {
    throw new UsageError("no command to run: service-run [flags] [--] <command> [arguments]");
  }
  /** Flag or twin, and the name that a message calls it by. */
  const given = (flag: Exclude<keyof typeof flags, "tag" | "version" | "help">) => {
    const twin = `SERVICE_${flag.toUpperCase().replaceAll("-", "_")}`;
    const text = flags[flag] ?? (env[twin] || undefined);
    return { text, name: flags[flag] === undefined ? twin : `--${flag}` };
  };
  const listenPort = port(given("listen-port"), 0);
  return {
    run: {
      command,
      listenHost: given("listen-host").text ?? DEFAULT_HOST,
      listenPort: listenPort ?? 18259,
      portNamed: listenPort !== undefined,
      metricsPort: port(given("metrics-port"), 1),
      metricsUrl: httpUrl(given("metrics-url")),
      cudaGraphTrace: graphTrace(given("cuda-graph-trace")),
      tags: Object.fromEntries((flags.tag ?? []).map(tag)),
    },
  };
}

/** Flags end at `--` or at the first word that is none: there the command starts. */
function split(args: string[]) {
  const { tokens } = parseArgs({
    args,
    options: FLAGS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const end = tokens.find(({ kind }) => kind !== "option");
  const at = end?.index ?? args.length;
  try {
    const { values } = parseArgs({ args: args.slice(0, at), options: FLAGS });
    return { flags: values, command: args.slice(end?.kind === "option-terminator" ? at + 1 : at) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const known = Object.keys(FLAGS).map((name) => `--${name}`).join(", ");
    throw new UsageError(`${error.message.split(/\. |\n/)[0]}; flags are ${known}`);
  }
}

interface Given {
  text: string | undefined;
  name: string;
}

function port({ text, name }: Given, min: number): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (number < min || number > 65535) {
    throw new UsageError(
      `${name} must be a port from ${min} to 65535: got ${JSON.stringify(text)}`,
    );
  }
  return number;
}

function httpUrl({ text, name }: Given): string | undefined {
  if (text === undefined) return undefined;
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? "")) {
    throw new UsageError(`${name} must be an http:// or https:// URL: got ${JSON.stringify(text)}`);
  }
  return text;
}

function graphTrace({ text = "graph", name }: Given): "graph" | "node" {
  if (text !== "graph" && text !== "node") {
    throw new UsageError(`${name} must be graph or node: got ${JSON.stringify(text)}`);
  }
  return text;
}

function tag(text: string): [string, string] {
  const equals = text.indexOf("=");
  if (equals < 1 || text.startsWith("instance.id=")) {
    const rule = equals < 1 ? "must be key=value" : "cannot name instance.id";
    throw new UsageError(`--tag ${rule}: got ${JSON.stringify(text)}`);
  }
  return [text.slice(0, equals), text.slice(equals + 1)];
}
