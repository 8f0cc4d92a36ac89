/** The workload: the user's command, started with our streams, and how it ended. */

/** How a command ended: with an exit code, or by a signal. */
export interface Ending {
  code: number;
  signal: Deno.Signal | null;
}

/** A command that runs. */
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
    super(`${command}: ${missing ? "command not found" : reason(cause)}`, { cause });
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

/** A script whose interpreter is missing is there, and still cannot be executed. */
function isFile(command: string): boolean {
  try {
    return command.includes("/") && Deno.statSync(command).isFile;
  } catch {
    return false;
  }
}

function reason(cause: unknown): string {
  if (cause instanceof Deno.errors.PermissionDenied) return "permission denied";
  return cause instanceof Error ? cause.message : String(cause);
}
