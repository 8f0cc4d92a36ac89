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
  /** Ports of its metrics where `port` is not the one or not the only one. */
  ports?(command: EngineCommand, port: number): number[] | undefined;
  path: string;
  /** Variables that can replace flags, by flag. */
  variables?: Readonly<Record<string, string>>;
  /** Whether `--config` names a file of flags. */
  configurable?: boolean;
  /** Whether its metrics need the key of `--api-key`. */
  guarded?: boolean;
  /** Flag without which there are no metrics. */
  needs?: string;
  /** The reason why that flag is left to the user: with it the engine may not start. */
  leaves?(command: EngineCommand): string | undefined;
  /** Flag with which there are no metrics. */
  refuses?: string;
  /** What a read of its metrics does to it. */
  effect(command: EngineCommand): string | undefined;
  /** The reason why this command serves no metrics, or at no known port; `undefined` if it does. */
  hidden(command: EngineCommand): string | undefined;
}

/**
 * Flags that keep reads out of the console (vllm-project/vllm pull request 30011, sgl-project/sglang
 * pull request 15513). They are not added: older versions would not start with them, and they hide the
 * reads of other clients too.
 */
const QUIET_VLLM = "--disable-access-log-for-endpoints";
const QUIET_SGLANG = "--uvicorn-access-log-exclude-prefixes";

function lineWithout(flag: string): string {
  return `is a line in its console without ${flag}`;
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
    effect(command) {
      const value = setting(this, command, QUIET_VLLM) ?? "";
      const isQuiet = isSet(this, command, "--disable-uvicorn-access-log") ||
        value.split(",").some((path) => path.trim() === this.path);
      return isQuiet ? undefined : lineWithout(`${QUIET_VLLM} ${this.path}`);
    },
    hidden(command) {
      if (isSet(this, command, "--headless")) return "with --headless it serves no metrics";
      if (isSet(this, command, "--grpc")) return "with --grpc it serves no metrics";
      if (setting(this, command, "--uds") !== undefined) return "it serves on a Unix socket";
      return undefined;
    },
    // vllm-project/vllm v0.32.0, entrypoints/launchers/dp_supervisor.py: one server for each rank of the
    // node, at the ports from --port on. With the other balancers one page has all ranks of a command.
    ports(command, port) {
      const has = (name: string) => isSet(this, command, name);
      const value = (name: string) => setting(this, command, name);
      if (!has("--data-parallel-multi-port-external-lb") && !has("-dpm")) return undefined;
      const ranks = Number(value("--data-parallel-size-local") ?? value("-dpl"));
      return ranks >= 1 ? portsFrom(port, ranks) : undefined;
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
    effect(command) {
      if (isGrpc(this, command)) return "may be a line in its console";
      const isSetUp = setting(this, command, QUIET_SGLANG) !== undefined;
      return isSetUp ? undefined : lineWithout(`${QUIET_SGLANG} ${this.path}`);
    },
    // sgl-project/sglang v0.5.23, srt/entrypoints/grpc_server.py: with the flag and smg-grpc-servicer
    // before 0.5.3 the start is refused.
    leaves(command) {
      if (isGrpc(this, command)) return "in gRPC mode it may not start with --enable-metrics";
      // Its server of images and videos did not know the flag at first (pull request 20295).
      return setting(this, command, "--model-type") === "diffusion"
        ? "a server of images may not know --enable-metrics"
        : undefined;
    },
    // The same file: metrics are on an HTTP server beside the one of gRPC. The flag for its port had
    // other names (pull requests 20801 and 22500).
    ports(command, port) {
      if (!isGrpc(this, command)) return undefined;
      const named = ["--smg-http-sidecar-port", "--grpc-http-sidecar-port", "--metrics-http-port"]
        .map((name) => setting(this, command, name)).find((value) => value !== undefined);
      return [Number(named ?? port + 1)];
    },
    hidden(command) {
      const rank = setting(this, command, "--node-rank") ?? "0";
      if (rank !== "0") return "only its first node serves metrics";
      return isGrpc(this, command) && isSet(this, command, "--encoder-only")
        ? "an encoder serves no metrics in gRPC mode"
        : undefined;
    },
  },
  {
    name: "TensorRT-LLM",
    is: (program, args) =>
      (program === "trtllm-serve" || program === "-m tensorrt_llm.commands.serve") &&
      args.length > 0 && !/^(?:disaggregated|mm_embedding_serve)/.test(args[0]!),
    port: 8_000,
    path: "/prometheus/metrics",
    effect: () => undefined,
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
    effect: () => "begins prompt_tokens_seconds and predicted_tokens_seconds anew",
    hidden(command) {
      const host = setting(this, command, "--host");
      return host?.endsWith(".sock") ? "it serves on a Unix socket" : undefined;
    },
  },
];

/** Whether SGLang is a gRPC server in place of an HTTP server. */
function isGrpc(engine: Engine, command: EngineCommand): boolean {
  return ["--smg-grpc-mode", "--grpc-mode"].some((name) => isSet(engine, command, name));
}

const MAX_PORT = 65_535;

function portsFrom(port: number, count: number): number[] {
  return Array.from({ length: Math.min(count, MAX_PORT + 1 - port) }, (_, i) => port + i);
}

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
  return word === name || (word.startsWith("--") && word.replaceAll("_", "-") === name);
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
