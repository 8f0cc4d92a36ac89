/** Inference engines: how each is told, where it serves its metrics, and which flags decide that. */

/** An engine's command, as far as it is looked at. */
export interface EngineCommand {
  /** Words behind the program's name. */
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** One kind of engine. */
export interface Engine {
  name: string;
  /** Whether a program (`-m module` for Python's modules) with these arguments serves it. */
  is(program: string, args: readonly string[]): boolean;
  /** Port that it serves on where nothing says otherwise. */
  port: number;
  path: string;
  /** The variables that stand for `--port` and `--host`, if it has any. */
  variables?: { port: string; host: string };
  /** Flag without which there are no metrics, and the variable that stands for it. */
  needs?: { flag: string; variable?: string };
  /** Flag with which there are none. */
  refuses?: string;
  /** Why this command serves no metrics, or none whose port can be told; `undefined` if it does. */
  hidden(command: EngineCommand): string | undefined;
}

/** All engines that are known. */
export const ENGINES: readonly Engine[] = [
  {
    name: "vLLM",
    is: (program, args) =>
      program === "-m vllm.entrypoints.openai.api_server" ||
      ((program === "vllm" || program === "-m vllm.entrypoints.cli.main") && args[0] === "serve"),
    port: 8_000,
    path: "/metrics",
    refuses: "--disable-log-stats",
    hidden({ args }) {
      if (has(args, "--headless")) return "with --headless it serves no metrics";
      if (flag(args, "--uds") !== undefined) return "it serves on a Unix socket";
      return portInFile(args);
    },
  },
  {
    name: "SGLang",
    is: (program, args) =>
      program === "-m sglang.launch_server" || (program === "sglang" && args[0] === "serve") ||
      (program === "-m sglang.cli.main" && args[0] === "serve"),
    port: 30_000,
    path: "/metrics",
    needs: { flag: "--enable-metrics" },
    hidden({ args }) {
      const rank = flag(args, "--node-rank") ?? "0";
      return rank === "0" ? portInFile(args) : "only its first node serves metrics";
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
    variables: { port: "LLAMA_ARG_PORT", host: "LLAMA_ARG_HOST" },
    needs: { flag: "--metrics", variable: "LLAMA_ARG_ENDPOINT_METRICS" },
    hidden({ args, env }) {
      const host = flag(args, "--host") ?? env.LLAMA_ARG_HOST;
      return host?.endsWith(".sock") ? "it serves on a Unix socket" : undefined;
    },
  },
];

/** Whether a flag without a value is there; `_` stands for `-` as the engines take it. */
export function has(args: readonly string[], name: string): boolean {
  return args.some((word) => sameFlag(word, name));
}

/** Whether a word is the flag `name`. */
export function sameFlag(word: string, name: string): boolean {
  return word.startsWith("--") && word.replaceAll("_", "-") === name;
}

/** The value of a flag, the last where it is given twice. */
export function flag(args: readonly string[], name: string): string | undefined {
  let found: string | undefined;
  args.forEach((word, i) => {
    const equals = word.indexOf("=");
    if (sameFlag(word, name)) found = args[i + 1];
    else if (equals > 0 && sameFlag(word.slice(0, equals), name)) found = word.slice(equals + 1);
  });
  return found;
}

function portInFile(args: readonly string[]): string | undefined {
  return flag(args, "--config") !== undefined && flag(args, "--port") === undefined
    ? "its port may be in the file of --config: --metrics-port names it"
    : undefined;
}
