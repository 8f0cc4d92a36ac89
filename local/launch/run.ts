/** `service-run`: starts the user's command under the supervisor, which starts the watcher beside it. */

import denoJson from "../../deno.json" with { type: "json" };
import { createClock } from "../base/clock.ts";
import { complain } from "../base/log.ts";
import { planCuda } from "./gpu_environment.ts";
import { newInstanceId } from "../watch/instance_tags.ts";
import { type Launch, launch } from "../engines/detect.ts";
import { checkListener } from "../serve/listener.ts";
import { becomeSupervisor } from "../base/native.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { INSTANCE_VARIABLE, type Plan, writePlan } from "../plan.ts";
import { commandLine } from "../sources/proc/attributes.ts";
import { targets } from "../engines/targets.ts";
import { readText } from "../base/files.ts";

/** Runs what `args` ask for and leaves with the exit code or by the signal of the workload. */
export async function main(args: string[]): Promise<void> {
  const start_ns = createClock()();
  const env = Deno.env.toObject();
  const { command, cudaGraphTrace, ...plan } = planRun(args, { env, start_ns });
  const reason = await becomeSupervisor((library) => {
    const cuda = planCuda({ library, id: plan.id, env, cudaGraphTrace });
    return [
      ...set({ [INSTANCE_VARIABLE]: plan.id, ...cuda.environment }),
      ...watch({ ...plan, cuda }),
      "--",
      ...exactly(command, plan.changes.length > 0),
    ];
  }, env);
  const { runInProcess } = await import("./fallback.ts");
  const missing = { ...plan.missing, console_errors: reason, gpu_kernels: reason };
  await runInProcess(command, { plan: { ...plan, missing }, env });
}

/** The supervisor's words for variables of the workload. */
function set(environment: Record<string, string>): string[] {
  return Object.entries(environment).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
}

interface Place {
  env: Record<string, string>;
  start_ns: bigint;
}

/** What is to be done; leaves where there is nothing, or where it cannot be. */
function planRun(
  args: string[],
  { env, start_ns }: Place,
): Plan & Pick<Options, "command" | "cudaGraphTrace"> {
  try {
    const request = readOptions(args, env);
    if ("print" in request) {
      console.log(request.print === "help" ? HELP.trimEnd() : `service-run ${denoJson.version}`);
      Deno.exit(0);
    }
    const { tags, listenHost, listenPort, portNamed } = request.run;
    const listen = { host: listenHost, port: listenPort, named: portNamed };
    checkListener(listen);
    const launched = look(request.run, env);
    const scraped = targets(request.run, launched);
    return {
      command: launched.command,
      cudaGraphTrace: request.run.cudaGraphTrace,
      id: newInstanceId(),
      start_ns,
      commandLine: commandLine(request.run.command),
      changes: launched.changes,
      tags,
      targets: scraped,
      missing: scraped.length === 0 && launched.why !== undefined
        ? { engine_metrics: launched.why }
        : {},
      listen,
    };
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
    Deno.exit(2);
  }
}

/** The supervisor's words for the watcher. A package from a registry needs no configuration here. */
function watch(plan: Plan): string[] {
  const module = import.meta.resolve("../watcher.ts");
  const isolated = module.startsWith("file:") ? [] : ["--no-config"];
  const flags = ["-A", "--quiet", "--no-lock", ...isolated];
  const words = [Deno.execPath(), "run", ...flags, module, writePlan(plan)];
  return ["--watch", String(words.length), ...words];
}

/** The command as it is started: as given, but for what an engine needs to serve its metrics. */
function look({ command, metricsPort, metricsUrl }: Options, env: Place["env"]): Launch {
  try {
    const launched = launch(command, { env, metricsPort, readText });
    for (const change of launched.changes) complain(change);
    const { engine, why } = launched;
    if (engine && why && !metricsUrl) complain(`no engine metrics: ${why}`);
    return launched;
  } catch (error) {
    complain(`the command is run as it is: ${error}`);
    return { command, changes: [], why: "the command could not be looked at" };
  }
}

/** The command byte for byte: Deno's own arguments are text, and a file name may be none. */
function exactly(command: string[], changed: boolean): (string | Uint8Array)[] {
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
