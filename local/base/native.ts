/** The one file that opens native code. */

import { constants } from "node:os";
import { unpacked } from "../launch/package.ts";

const SIG_DFL = null;
const RLIMIT_CORE = 4;

/** What `deno task native` builds, in a checkout. */
const BUILD = new URL("../../ffi/build", import.meta.url);

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

/** The supervisor's arguments, where this is the path of the library that goes with it. */
export type SupervisorArguments = (library: string) => readonly (string | Uint8Array)[];

/**
 * Becomes the supervisor with these arguments, under the same pid. Returns only where that is not
 * possible: then it says why, of several reasons that of the best place.
 */
export async function becomeSupervisor(
  args: SupervisorArguments,
  env: Record<string, string>,
): Promise<string> {
  if (BUILD.protocol === "file:") {
    const why = execute(decodeURIComponent(BUILD.pathname), args);
    return `the native supervisor is not built, or not for this system (deno task native): ${why}`;
  }
  let first: string | undefined;
  for await (const folder of unpacked(env)) {
    const why = folder instanceof Error ? folder.message : execute(folder, args);
    first ??= why;
  }
  return first ?? "";
}

/** Becomes the supervisor in `folder`, or says why not. */
function execute(folder: string, args: SupervisorArguments): string {
  const supervisor = `${folder}/service-supervisor`;
  const path = `${folder}/libservice.so`;
  try {
    const library = Deno.dlopen(path, {
      service_exec: { parameters: ["buffer", "buffer", "u64"], result: "i32" },
    });
    const words = terminated([supervisor, ...args(path)]);
    const program = terminated([supervisor]);
    const errno = -library.symbols.service_exec(program, words, BigInt(words.length));
    library.close();
    return `${supervisor} does not start (errno ${errno})`;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return text.replace("Could not open library: ", "");
  }
}

/** Words as C reads them, each ended by a NUL. */
function terminated(words: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const encoded = words.map((word) => typeof word === "string" ? encoder.encode(word) : word);
  const bytes = new Uint8Array(encoded.reduce((sum, word) => sum + word.length + 1, 0));
  let at = 0;
  for (const word of encoded) {
    bytes.set(word, at);
    at += word.length + 1;
  }
  return bytes;
}

/** Asks the writer of the segment at `path` for newer values; see `ffi/segment/segment.h`. */
export type AskSegment = (path: string, taken: number) => number;

/**
 * How a segment's writer is asked: says that the answer `taken` was read and returns the answer to wait
 * for, or a negative errno; `null` where `library` cannot be opened.
 */
export function openSegmentAsk(library: string): AskSegment | null {
  try {
    const { symbols } = Deno.dlopen(library, {
      service_segment_ask: { parameters: ["buffer", "u32"], result: "i64" },
    });
    return (path, taken) => Number(symbols.service_segment_ask(terminated([path]), taken));
  } catch {
    return null;
  }
}
