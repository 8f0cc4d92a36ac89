/** `service-run`: reads its arguments and runs the workload that they name. */

import denoJson from "../deno.json" with { type: "json" };
import { createClock } from "./base/clock.ts";
import { guardProcess } from "./base/guard.ts";
import { errorText, log } from "./base/log.ts";
import { StartError, startWorkload, watchWorkload } from "./launch/fallback.ts";
import { helpText, readOptions } from "./launch/options.ts";
import { planRun, type Run, runSupervised } from "./launch/run.ts";
import { dieBy } from "./launch/supervisor.ts";
import { INSTANCE_VARIABLE } from "./plan.ts";

/** Does what `args` ask for and leaves with the exit code or by the signal of the workload. */
export async function main(args: string[]): Promise<never> {
  const start_ns = createClock()();
  const env = Deno.env.toObject();
  if (args[0] === "context") {
    const { printContext } = await import("./cli/context.ts");
    Deno.exit(await printContext(args.slice(1), env));
  }
  const run = readRun(args, { env, start_ns });
  const reason = await runSupervised(run, env);
  return await runUnsupervised(run, { env, reason });
}

/** The run that `args` ask for; leaves if they ask for a text, or for what cannot be done. */
function readRun(
  args: string[],
  { env, start_ns }: { env: Record<string, string>; start_ns: bigint },
): Run {
  try {
    const request = readOptions(args, env);
    if ("run" in request) return planRun(request.run, { env, start_ns, pid: Deno.pid });
    console.log(request.print === "help" ? helpText() : `service-run ${denoJson.version}`);
    Deno.exit(0);
  } catch (error) {
    log(errorText(error));
    Deno.exit(2);
  }
}

/** Runs the workload and its watcher from this process; `reason` tells why there is no supervisor. */
async function runUnsupervised(
  { plan, command }: Run,
  { env, reason }: { env: Record<string, string>; reason: string },
): Promise<never> {
  try {
    const workload = startWorkload(command, { [INSTANCE_VARIABLE]: plan.id });
    guardProcess({ env: Deno.env, events: globalThis });
    const native = { console_errors: reason, gpu_kernels: reason, gpu_devices: reason };
    const missing = { ...plan.missing, ...native };
    const { code, signal } = await watchWorkload(workload, { plan: { ...plan, missing }, env });
    if (signal) await dieBy(signal);
    Deno.exit(code);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    log(error.message);
    Deno.exit(error.code);
  }
}
