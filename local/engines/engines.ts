/** Inference engines: how each is recognised, and the flags that set the URL of its metrics. */

/** The parts of an engine's command that set the URL of its metrics. */
export interface EngineCommand {
  /** Words after the program's name. */
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Flags of the file of `--config`, by name; `null` for a file that is not understood. */
  config?: Readonly<Record<string, string>> | null;
}

/** One kind of engine. */
export interface Engine {
  name: string;
  /** Whether a program (`-m module` for Python's modules) with these arguments serves it. */
  is(program: string, args: readonly string[]): boolean;
  /** Default port. */
  port: number;
  path: string;
  /** Variables that can replace flags, by flag. */
  variables?: Readonly<Record<string, string>>;
  /** Whether `--config` names a file of flags. */
  configurable?: boolean;
  /** Whether its metrics need the key of `--api-key`. */
  guarded?: boolean;
  /** Flag without which there are no metrics. */
  needs?: string;
  /** Flag with which there are no metrics. */
  refuses?: string;
  /** The reason why this command serves no metrics, or at no known port; `undefined` if it does. */
  hidden(command: EngineCommand): string | undefined;
}

/** All engines that are recognised. */
export const ENGINES: readonly Engine[] = [
  {
    name: "vLLM",
    is: (program, args) =>
      program === "-m vllm.entrypoints.openai.api_server" ||
      ((program === "vllm" || program === "-m vllm.entrypoints.cli.main") && args[0] === "serve"),
    port: 8_000,
    path: "/metrics",
    configurable: true,
    refuses: "--disable-log-stats",
    hidden(command) {
      if (isSet(this, command, "--headless")) return "with --headless it serves no metrics";
      if (isSet(this, command, "--grpc")) return "with --grpc it serves no metrics";
      if (setting(this, command, "--uds") !== undefined) return "it serves on a Unix socket";
      return undefined;
    },
  },
  {
    name: "SGLang",
    is: (program, args) =>
      program === "-m sglang.launch_server" || (program === "sglang" && args[0] === "serve") ||
      (program === "-m sglang.cli.main" && args[0] === "serve"),
    port: 30_000,
    path: "/metrics",
    configurable: true,
    needs: "--enable-metrics",
    hidden(command) {
      const rank = setting(this, command, "--node-rank") ?? "0";
      return rank === "0" ? undefined : "only its first node serves metrics";
    },
  },
  {
    name: "TensorRT-LLM",
    is: (program, args) =>
      (program === "trtllm-serve" || program === "-m tensorrt_llm.commands.serve") &&
      args.length > 0 && !/^(?:disaggregated|mm_embedding_serve)/.test(args[0]!),
    port: 8_000,
    path: "/prometheus/metrics",
    hidden: () => undefined,
  },
  {
    name: "llama-server",
    is: (program) => program === "llama-server",
    port: 8_080,
    path: "/metrics",
    variables: {
      "--port": "LLAMA_ARG_PORT",
      "--host": "LLAMA_ARG_HOST",
      "--metrics": "LLAMA_ARG_ENDPOINT_METRICS",
      "--api-prefix": "LLAMA_ARG_API_PREFIX",
      "--api-key": "LLAMA_API_KEY",
      "--api-key-file": "LLAMA_ARG_API_KEY_FILE",
      "--ssl-cert-file": "LLAMA_ARG_SSL_CERT_FILE",
    },
    guarded: true,
    needs: "--metrics",
    hidden(command) {
      const host = setting(this, command, "--host");
      return host?.endsWith(".sock") ? "it serves on a Unix socket" : undefined;
    },
  },
];

/** The value of a flag: from the command line, the file of `--config`, or a variable. */
export function setting(
  { variables = {} }: Engine,
  { args, env, config }: EngineCommand,
  name: string,
): string | undefined {
  const variable = variables[name];
  return flag(args, name) ?? config?.[name] ?? ((variable && env[variable]) || undefined);
}

/** Whether a command sets a flag that has no value. */
export function isSet(engine: Engine, command: EngineCommand, name: string): boolean {
  return has(command.args, name) ||
    /^(?:1|on|true|yes|enabled)$/i.test(setting(engine, { ...command, args: [] }, name) ?? "");
}

/** Whether a flag without a value is present; the engines accept `_` for `-`. */
function has(args: readonly string[], name: string): boolean {
  return args.some((word) => sameFlag(word, name));
}

/** Whether a word is the flag `name`. */
export function sameFlag(word: string, name: string): boolean {
  return word.startsWith("--") && word.replaceAll("_", "-") === name;
}

/** The value of a flag, the last if it is given twice. */
export function flag(args: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  args.forEach((word, i) => {
    const equals = word.indexOf("=");
    if (sameFlag(word, name)) value = args[i + 1];
    else if (equals > 0 && sameFlag(word.slice(0, equals), name)) value = word.slice(equals + 1);
  });
  return value;
}
