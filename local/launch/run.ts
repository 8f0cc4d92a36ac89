/** One run: its plan, and its start under the supervisor, which starts the watcher beside it. */

import { commandLine } from "../base/command_line.ts";
import { readText } from "../base/files.ts";
import { log } from "../base/log.ts";
import { detect, type Detection } from "../engines/detect.ts";
import { targets } from "../engines/targets.ts";
import { INSTANCE_VARIABLE, newInstanceId, type Plan, writePlan } from "../plan.ts";
import { checkListener, DEFAULT_PORT } from "../serve/listener.ts";
import { NEEDLES } from "../sources/console/needles.ts";
import { planDevices } from "./device_plan.ts";
import { planCuda } from "./gpu_environment.ts";
import { mayLeave } from "./leaving.ts";
import type { Options } from "./options.ts";
import { becomeSupervisor } from "./supervisor.ts";

/** A run before its start. */
export interface Run extends Pick<Options, "command" | "cudaGraphTrace"> {
  plan: Plan;
}

/** Facts of the launcher's process. */
export interface RunContext {
  env: Record<string, string>;
  start_ns: bigint;
  pid: number;
}

/**
 * The run that `options` ask for.
 *
 * @throws {Error} If it cannot listen where the user asked it to.
 */
export function planRun(options: Options, { env, start_ns, pid }: RunContext): Run {
  const { tags, listenHost, listenPort, cudaGraphTrace } = options;
  const listen = {
    host: listenHost,
    port: listenPort ?? DEFAULT_PORT,
    named: listenPort !== undefined,
  };
  checkListener(listen);
  const detection = detectEngine(options, env);
  const { command, changes, reason } = detection;
  const endpoints = targets({ ...options, keyFile: env.SERVICE_METRICS_KEY_FILE }, detection);
  return {
    command,
    cudaGraphTrace,
    plan: {
      id: newInstanceId(),
      start_ns,
      reaper: pid,
      commandLine: commandLine(options.command),
      changes,
      tags,
      targets: endpoints,
      missing: endpoints.length === 0 && reason !== undefined ? { engine_metrics: reason } : {},
      listen,
    },
  };
}

/** The command to start: the given one, with the changes that an engine needs to serve its metrics. */
function detectEngine(
  { command, metricsPort, metricsUrl }: Options,
  env: RunContext["env"],
): Detection {
  try {
    const detection = detect(command, { env, metricsPort, readText });
    for (const change of detection.changes) log(change);
    const { engine, reason } = detection;
    if (engine && reason && !metricsUrl) log(`no engine metrics: ${reason}`);
    return detection;
  } catch (error) {
    log(`the command is not changed: ${error}`);
    return { command, changes: [], urls: [], reason: "the command could not be examined" };
  }
}

/** Becomes the supervisor of the run. Returns only if that fails: the reason. */
export function runSupervised(
  { command, plan, cudaGraphTrace }: Run,
  env: RunContext["env"],
): Promise<string> {
  return becomeSupervisor((folder) => {
    const library = `${folder}/libservice.so`;
    const cuda = planCuda({ library, id: plan.id, env, cudaGraphTrace });
    const devices = planDevices({ library: `${folder}/libdevices.so`, env });
    return [
      ...(mayLeave({ env, ppid: Deno.ppid }) ? ["--leave"] : []),
      ...setWords({ [INSTANCE_VARIABLE]: plan.id, ...cuda.environment }),
      ...["--needles", new TextEncoder().encode(NEEDLES.join("")).toHex()],
      ...watchWords({ ...plan, cuda, devices, sieve: `${folder}/libconsole.so` }),
      "--",
      ...exactWords(command, plan.changes.length > 0),
    ];
  }, env);
}

/** The supervisor's words for variables of the workload. */
function setWords(environment: Record<string, string>): string[] {
  return Object.entries(environment).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
}

/** Deno's own limit is 16 MiB: in a process that works once a second that is memory and saves no time. */
const YOUNG_GENERATION = "--v8-flags=--max-semi-space-size=2";

/** The supervisor's words for the watcher. A package from a registry needs no configuration here. */
function watchWords(plan: Plan): string[] {
  const module = import.meta.resolve("../watcher.ts");
  const isolated = module.startsWith("file:") ? [] : ["--no-config"];
  const flags = ["-A", "--quiet", "--no-lock", YOUNG_GENERATION, ...isolated];
  const words = [Deno.execPath(), "run", ...flags, module, writePlan(plan)];
  return ["--watch", String(words.length), ...words];
}

/** The command byte for byte: Deno's own arguments are text, and a file name may be none. */
function exactWords(command: string[], changed: boolean): (string | Uint8Array)[] {
  if (changed || command.every((word) => !word.includes("\ufffd"))) return command;
  try {
    const bytes = Deno.readFileSync("/proc/self/cmdline");
    const words: Uint8Array[] = [];
    for (let at = 0, end; (end = bytes.indexOf(0, at)) >= 0; at = end + 1) {
      words.push(bytes.subarray(at, end));
    }
    return words.slice(-command.length);
  } catch {
    return command;
  }
}
