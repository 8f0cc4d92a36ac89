/** Options of a run: each flag, its variable and its text of help in one row. */

import { DEFAULT_HOST } from "../serve/listener.ts";

/** A flag or a variable, as it is listed in `--help` and in the README. */
export interface ListedOption {
  /** The flag and its value; absent for a variable without a flag. */
  flag?: string;
  /** Absent for a flag without a variable. */
  variable?: string;
  help: string;
}

/** The texts that were given for a flag, and the name of the flag or variable that gave them. */
interface Given {
  texts: readonly string[];
  name: string;
}

/** A flag with a value, and the option that it becomes. */
interface Flag<T> extends ListedOption {
  flag: string;
  variable: string;
  read(given: Given): T;
}

const FLAGS = {
  listenHost: {
    flag: "--listen-host <address>",
    variable: "SERVICE_LISTEN_HOST",
    help: "address to serve on (127.0.0.1)",
    read: ({ texts }) => texts.at(-1) ?? DEFAULT_HOST,
  },
  listenPort: {
    flag: "--listen-port <port>",
    variable: "SERVICE_LISTEN_PORT",
    help: "port to serve on (18259, or a free one); 0: a free one",
    read: (given) => port(given, 0),
  },
  tags: {
    flag: "--tag <key>=<value>",
    variable: "SERVICE_TAG_<KEY>",
    help: "tag of the run; repeatable",
    read: ({ texts }) => Object.fromEntries(texts.map(tag)),
  },
  metricsPort: {
    flag: "--metrics-port <port>",
    variable: "SERVICE_METRICS_PORT",
    help: "port of the engine's Prometheus metrics",
    read: (given) => port(given, 1),
  },
  metricsUrl: {
    flag: "--metrics-url <url>",
    variable: "SERVICE_METRICS_URL",
    help: "URL of Prometheus metrics to read instead",
    read: httpUrl,
  },
  cudaGraphTrace: {
    flag: "--cuda-graph-trace graph|node",
    variable: "SERVICE_CUDA_GRAPH_TRACE",
    help: "time CUDA graphs as a whole, or by node (graph)",
    read: graphTrace,
  },
} satisfies Record<string, Flag<unknown>>;

/** Variables without a flag. */
const VARIABLES: readonly ListedOption[] = [
  { variable: "SERVICE_METRICS_KEY_FILE", help: "file with the key of the Prometheus metrics" },
  { variable: "SERVICE_API_KEY", help: "key of the hosted API: uploads the measurements" },
  { variable: "SERVICE_API_KEY_FILE", help: "file with that key, read again for each upload" },
  { variable: "SERVICE_API_BASE", help: "URL of the hosted API" },
  { variable: "SERVICE_STATE_DIR", help: "directory of run files, spools and last documents" },
  { variable: "SERVICE_RUN_FILES=0", help: "keep no file of the run's windows" },
  { variable: "SERVICE_SNAPSHOT_FILE", help: "file for the last document" },
  { variable: "SERVICE_DEBUG=1", help: "print the instance and the URL on stderr" },
];

/** Flags that print a text in place of a run. */
const PRINTED: readonly ListedOption[] = [
  { flag: "--version", help: "print the version" },
  { flag: "--help", help: "print the usage" },
];

/** All flags and variables, in the order in which they are listed. */
export const LISTED: readonly ListedOption[] = [...Object.values(FLAGS), ...VARIABLES, ...PRINTED];

/** The options of one run; those that are `undefined` were not given. */
export type Options =
  & {
    /** The workload, byte for byte. */
    command: string[];
  }
  & { [Name in keyof typeof FLAGS]: ReturnType<(typeof FLAGS)[Name]["read"]> };

/** A request: to run a workload, or to print a text and leave. */
export type Request = { run: Options } | { print: "help" | "version" };

/** A mistake on the command line or in the environment; the exit code for it is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const USAGE = "service-run [flags] [--] <command> [arguments]";

/** Text of `--help`. */
export function helpText(): string {
  const rows = LISTED.map(({ flag = "", variable = "", help }) =>
    `  ${flag.padEnd(30)} ${variable.padEnd(25)} ${help}`
  );
  return `Usage: ${USAGE}

Runs the command unmodified, measures it from the side and serves the measurements at
http://127.0.0.1:18259/signals while it runs. With SERVICE_API_KEY and SERVICE_API_BASE
set, also uploads them.

       service-run context [run]

Prints what limits a run, for a language model: service-run context --help.

${"Flag".padEnd(32)} Environment
${rows.join("\n")}`;
}

/**
 * The request in `args` (flags, then the command) and the environment; a flag wins over its variable.
 *
 * @throws {UsageError} If a flag is not known, a value is not allowed, or there is no command.
 */
export function readOptions(args: string[], env: Record<string, string>): Request {
  const { values, command } = split(args);
  if (values.has("--help")) return { print: "help" };
  if (values.has("--version")) return { print: "version" };
  if (command.length === 0) throw new UsageError(`no command to run: ${USAGE}`);
  const options = Object.entries(FLAGS).map(([option, { flag, variable, read }]) => {
    const name = nameOf(flag);
    const texts = values.get(name);
    const inherited = env[variable] ? [env[variable]] : [];
    return [option, read(texts ? { texts, name } : { texts: inherited, name: variable })];
  });
  return { run: { command, ...Object.fromEntries(options) } };
}

/**
 * Flags end at `--` or at the first word that is none: there the command starts. The texts of each flag
 * are under its name.
 */
function split(args: string[]) {
  const values = new Map<string, string[]>();
  let at = 0;
  for (; /^-./.test(args[at] ?? ""); at++) {
    const word = args[at]!;
    if (word === "--") return { values, command: args.slice(at + 1) };
    const [name = "", inline] = word.split(/=(.*)/s);
    const known = LISTED.find(({ flag = "" }) => nameOf(flag) === name);
    if (!known) {
      const flags = LISTED.flatMap(({ flag }) => flag ? [nameOf(flag)] : []);
      throw new UsageError(`unknown flag ${name}; flags are ${flags.join(", ")}`);
    }
    const takesValue = known.variable !== undefined;
    const value = takesValue ? inline ?? args[++at] : "";
    if (!takesValue && inline !== undefined) throw new UsageError(`${name} takes no value`);
    if (value === undefined || (inline === undefined && value.startsWith("-"))) {
      throw new UsageError(`${name} needs a value: ${known.flag}`);
    }
    values.set(name, [...values.get(name) ?? [], value]);
  }
  return { values, command: args.slice(at) };
}

/** A flag without its value. */
function nameOf(flag: string): string {
  return flag.split(" ")[0]!;
}

function port({ texts, name }: Given, min: number): number | undefined {
  const text = texts.at(-1);
  if (text === undefined) return undefined;
  const number = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (number < min || number > 65535) {
    throw new UsageError(
      `${name} must be a port from ${min} to 65535: got ${JSON.stringify(text)}`,
    );
  }
  return number;
}

function httpUrl({ texts, name }: Given): string | undefined {
  const text = texts.at(-1);
  if (text === undefined) return undefined;
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? "")) {
    throw new UsageError(`${name} must be an http:// or https:// URL: got ${JSON.stringify(text)}`);
  }
  return text;
}

function graphTrace({ texts, name }: Given): "graph" | "node" {
  const text = texts.at(-1) ?? "graph";
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
