/** The run without a supervisor: this process starts the workload and watches it. */

import { createClock } from "../base/clock.ts";
import { errorText, log } from "../base/log.ts";
import type { Plan } from "../plan.ts";
import { openListener } from "../serve/listener.ts";
import type { Session } from "../watch/session.ts";

/** Computed, so that a supervised run does not load the watcher in its launcher too. */
const SESSION = new URL("../watch/session.ts", import.meta.url).href;

/** How a command ended: with an exit code, or by a signal. */
export interface Ending {
  code: number;
  signal: Deno.Signal | null;
}

/** A running command. */
export interface Workload {
  readonly pid: number;
  readonly ended: Promise<Ending>;
  kill(signal: Deno.Signal): void;
}

/** Why a command could not be started, and the exit code that a shell gives for it. */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly code: 126 | 127;

  /** For `command`, which `cause` kept from starting. */
  constructor(command: string, cause: unknown) {
    const missing = cause instanceof Deno.errors.NotFound && !isFile(command);
    super(`${command}: ${missing ? "command not found" : reasonOf(cause)}`, { cause });
    this.code = missing ? 127 : 126;
  }
}

/**
 * Starts a command with our streams and our environment, to which `env` adds.
 *
 * @throws {StartError} If it cannot be started.
 */
export function startWorkload(command: readonly string[], env: Record<string, string>): Workload {
  const [program = "", ...args] = command;
  try {
    const child = new Deno.Command(program, {
      args,
      env,
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit",
    }).spawn();
    return { pid: child.pid, ended: child.status, kill: (signal) => child.kill(signal) };
  } catch (error) {
    throw new StartError(program, error);
  }
}

/** A script with a missing interpreter exists, but cannot be executed. */
function isFile(command: string): boolean {
  try {
    return command.includes("/") && Deno.statSync(command).isFile;
  } catch {
    return false;
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Deno.errors.PermissionDenied ? "permission denied" : errorText(cause);
}

/** Signals that the workload gets from us. */
const FORWARDED: Deno.Signal[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];

/** Watches a workload with `plan` until it has ended; returns its status. */
export async function watchWorkload(
  workload: Workload,
  { plan, env }: { plan: Plan; env: Record<string, string> },
): Promise<Ending> {
  const interrupted = Promise.withResolvers<void>();
  let ended = false;
  let watched: Session | undefined = undefined;
  for (const signal of FORWARDED) {
    Deno.addSignalListener(signal, () => {
      if (ended) return interrupted.resolve();
      if (!signal.startsWith("SIGUSR")) watched?.hurry();
      if (!reachesGroup(signal)) workload.kill(signal);
    });
  }
  const session = await loadSession();
  watched = session?.startSession({
    ...plan,
    now_ns: createClock(),
    pid: workload.pid,
    env,
    listener: openListener(plan.listen),
  });
  const ending = await workload.ended;
  ended = true;
  await Promise.race([watched?.finish(), interrupted.promise]);
  return ending;
}

async function loadSession(): Promise<typeof import("../watch/session.ts") | undefined> {
  try {
    return await import(SESSION);
  } catch (error) {
    log(`no profile, the workload runs without one: ${error}`);
  }
}

/** Ctrl-C and Ctrl-\ reach the whole foreground group of a terminal: the workload has them already. */
function reachesGroup(signal: Deno.Signal): boolean {
  const terminal = Deno.stdin.isTerminal() || Deno.stdout.isTerminal() || Deno.stderr.isTerminal();
  return terminal && (signal === "SIGINT" || signal === "SIGQUIT");
}
