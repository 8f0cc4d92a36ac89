/** The supervisor, which the launcher becomes, and the end by a signal as it would have it. */

import { errorText } from "../base/log.ts";
import { execute, restoreSignal } from "../base/native.ts";
import { unpacked } from "./package.ts";

/** The folder that `deno task native` builds into, in a checkout. */
const BUILD = new URL("../../ffi/build", import.meta.url);

/** The supervisor's arguments, from the folder that it and the libraries are in. */
export type SupervisorArguments = (folder: string) => readonly (string | Uint8Array)[];

/**
 * Becomes the supervisor with these arguments, under the same pid. Returns only if that fails: the
 * reason, which is that of the best folder if there are several.
 */
export async function becomeSupervisor(
  args: SupervisorArguments,
  env: Record<string, string>,
): Promise<string> {
  if (BUILD.protocol === "file:") {
    const reason = executeIn(decodeURIComponent(BUILD.pathname), args);
    return `the native supervisor is not built, or not for this system (deno task native): ${reason}`;
  }
  let first: string | undefined;
  for await (const folder of unpacked(env)) {
    const reason = folder instanceof Error ? folder.message : executeIn(folder, args);
    first ??= reason;
  }
  return first ?? "";
}

/** Becomes the supervisor in `folder`; returns the reason if that fails. */
function executeIn(folder: string, args: SupervisorArguments): string {
  const supervisor = `${folder}/service-supervisor`;
  try {
    const errno = execute(`${folder}/libservice.so`, [supervisor, ...args(folder)]);
    return `${supervisor} does not start (errno ${errno})`;
  } catch (error) {
    return errorText(error).replace("Could not open library: ", "");
  }
}

/**
 * Ends this process by `signal` as if it had never been handled, without a core file of our own.
 * Returns only where the platform does not allow it.
 */
export async function dieBy(signal: Deno.Signal): Promise<void> {
  try {
    await restoreSignal(signal);
    Deno.kill(Deno.pid, signal);
  } catch {
    // No libc of that name, or not a signal that may be sent.
  }
}
