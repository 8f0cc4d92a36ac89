/** Native code: the one file that opens it. */

const SIG_DFL = null;
const RLIMIT_CORE = 4;

/**
 * Gives `signal` its default action, and this process no core file.
 *
 * @throws {Error} If there is no libc of this name.
 */
export async function restoreSignal(signal: Deno.Signal): Promise<void> {
  const { constants } = await import("node:os");
  const { symbols } = Deno.dlopen("libc.so.6", {
    signal: { parameters: ["i32", "pointer"], result: "pointer" },
    setrlimit: { parameters: ["i32", "buffer"], result: "i32" },
  });
  symbols.setrlimit(RLIMIT_CORE, new BigUint64Array(2));
  symbols.signal(constants.signals[signal as keyof typeof constants.signals], SIG_DFL);
}

/**
 * Replaces this process by a program, with a function of the library; `words` are its arguments, the
 * first its path. Returns only on failure: the error number.
 *
 * @throws {Error} If the library cannot be opened.
 */
export function execute(library: string, words: readonly (string | Uint8Array)[]): number {
  const opened = Deno.dlopen(library, {
    service_exec: { parameters: ["buffer", "buffer", "u64"], result: "i32" },
  });
  const program = terminated(words.slice(0, 1));
  const args = terminated(words);
  const errno = -opened.symbols.service_exec(program, args, BigInt(args.length));
  opened.close();
  return errno;
}

/** Asks the writer of the segment at `path` for newer values; see `ffi/segment/segment.h`. */
export type AskSegment = (path: string, taken: number) => number;

/**
 * The function that asks a segment's writer: acknowledges the answer `taken`, and returns the number of
 * the answer to wait for, or a negative errno. `null` if `library` cannot be opened.
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

/** The poller of NVIDIA's devices; see `ffi/devices/poller.c`. */
export interface DevicePoller {
  /**
   * Begins to poll, in a thread of its own; never blocks. The segment is below the first of the
   * `directories` that has room. `nvml`: path of another library than the driver's, or the empty string.
   * Returns 0 or a negative errno.
   */
  start(directories: readonly string[], nvml: string): number;
  /** Ends the thread; one in a call that hangs is left alone after 100 ms. */
  stop(): void;
}

/** The poller in `library`; `null` if that cannot be opened. */
export function openDevicePoller(library: string): DevicePoller | null {
  try {
    const { symbols } = Deno.dlopen(library, {
      devices_start: { parameters: ["buffer", "buffer"], result: "i32" },
      devices_stop: { parameters: [], result: "void" },
    });
    return {
      start: (directories, nvml) =>
        symbols.devices_start(terminated([directories.join(":")]), terminated([nvml])),
      stop: () => symbols.devices_stop(),
    };
  } catch {
    return null;
  }
}

/** Finds needles of four letters in bytes; see `ffi/supervisor/sieve.h`. */
export type Sieve = (bytes: Uint8Array, from: number, end: number) => number;

/**
 * The search for `needles`: the index of the byte in `[from, end)` with which the first one ends, or -1.
 * `null` if `library` cannot be opened.
 */
export function openSieve(library: string, needles: readonly string[]): Sieve | null {
  try {
    const { symbols } = Deno.dlopen(library, {
      sieve_create: { parameters: ["buffer", "usize"], result: "pointer" },
      sieve_find: { parameters: ["pointer", "buffer", "usize", "usize"], result: "i64" },
    });
    const texts = new TextEncoder().encode(needles.join(""));
    const sieve = symbols.sieve_create(texts, BigInt(texts.length));
    if (sieve === null) return null;
    return (bytes, from, end) =>
      Number(
        symbols.sieve_find(sieve, bytes as Uint8Array<ArrayBuffer>, BigInt(from), BigInt(end)),
      );
  } catch {
    return null;
  }
}

/** Processor clock of a process, on Linux. */
const CLOCK_PROCESS_CPUTIME_ID = 2;

/**
 * The function that answers the nanoseconds of processor time that this process has used; `null` without
 * a libc of this name. Node's function for it takes 10 ms to load.
 */
export function openProcessorClock(): (() => number) | null {
  try {
    const { symbols } = Deno.dlopen("libc.so.6", {
      clock_gettime: { parameters: ["i32", "buffer"], result: "i32" },
    });
    const time = new BigInt64Array(2);
    return () => {
      symbols.clock_gettime(CLOCK_PROCESS_CPUTIME_ID, time);
      return Number(time[0]! * 1_000_000_000n + time[1]!);
    };
  } catch {
    return null;
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
