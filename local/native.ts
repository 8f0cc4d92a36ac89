/** The one file that opens native code. */

import { constants } from "node:os";

const SIG_DFL = null;
const RLIMIT_CORE = 4;

/**
 * Ends this process by `signal` as if it had never been handled, without a core file of our own.
 * Returns only where the platform does not allow it.
 */
export function dieBy(signal: Deno.Signal): void {
  try {
    const libc = Deno.dlopen("libc.so.6", {
      signal: { parameters: ["i32", "pointer"], result: "pointer" },
      setrlimit: { parameters: ["i32", "buffer"], result: "i32" },
    });
    libc.symbols.setrlimit(RLIMIT_CORE, new BigUint64Array(2));
    libc.symbols.signal(constants.signals[signal as keyof typeof constants.signals], SIG_DFL);
    Deno.kill(Deno.pid, signal);
  } catch {
    // No libc of that name, or not a signal one may send.
  }
}
