/** Runs the workload and its watcher in one process, where there is no native supervisor. */

import { createClock } from "../base/clock.ts";
import { complain } from "../base/log.ts";
import { openListener } from "../serve/listener.ts";
import { dieBy } from "../base/native.ts";
import { INSTANCE_VARIABLE, type Plan } from "../plan.ts";
import { startSession } from "../watch/session.ts";
import { type Ending, StartError, startWorkload, type Workload } from "./workload.ts";

const FORWARDED: Deno.Signal[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];

/** Runs `command` as `plan` says and leaves with its exit code or by its signal. */
export async function runInProcess(
  command: readonly string[],
  { plan, env }: { plan: Plan; env: Record<string, string> },
): Promise<never> {
  // It would move our own server; the workload still gets it.
  Deno.env.delete("DENO_SERVE_ADDRESS");
  // The launcher had the port a moment ago.
  const listener = openListener({ ...plan.listen, named: false });
  const workload = start(command, plan, env);
  let ending: Ending | null = null;
  for (const signal of FORWARDED) {
    Deno.addSignalListener(signal, () => {
      if (ending) leave(ending);
      if (!reachesGroup(signal)) workload.kill(signal);
    });
  }
  const session = startSession({
    ...plan,
    now_ns: createClock(),
    pid: workload.pid,
    env,
    listener,
  });
  ending = await workload.ended;
  await session.finish();
  leave(ending);
}

function start(
  command: readonly string[],
  { id }: Plan,
  env: Record<string, string>,
): Workload {
  const { DENO_SERVE_ADDRESS } = env;
  try {
    return startWorkload(command, {
      [INSTANCE_VARIABLE]: id,
      ...(DENO_SERVE_ADDRESS && { DENO_SERVE_ADDRESS }),
    });
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    complain(error.message);
    Deno.exit(error.code);
  }
}

/** Ctrl-C and Ctrl-\ reach the whole foreground group of a terminal: the workload has them already. */
function reachesGroup(signal: Deno.Signal): boolean {
  const terminal = Deno.stdin.isTerminal() || Deno.stdout.isTerminal() || Deno.stderr.isTerminal();
  return terminal && (signal === "SIGINT" || signal === "SIGQUIT");
}

/** Ends as the workload did. */
function leave({ code, signal }: Ending): never {
  if (signal) dieBy(signal);
  Deno.exit(code);
}
