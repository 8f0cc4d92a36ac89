/** Runs of the load on the strict double, under a profiler. */

import { type Ended, run } from "../../command.ts";
import type { Sanitizer } from "../cuda/build.ts";
import { strict, type StrictToolkit } from "./build.ts";

/** A run of the load. */
export interface LoadOptions {
  toolkit: StrictToolkit | null;
  /** Path of the profiler that is injected. */
  profiler: string;
  /** Arguments of the load: `threads=2`. */
  words?: string[];
  env?: Record<string, string>;
  sanitizer?: Sanitizer;
}

/** How a run ended. */
export interface LoadRun extends Ended {
  /** Lines of the ledger of misuse, each once. */
  misuse: string[];
}

/** Runs the load to its end. */
export async function runLoad(options: LoadOptions): Promise<LoadRun> {
  const { load, libraries } = await strict(options);
  const ledger = await Deno.makeTempFile({ prefix: "service-test-ledger-" });
  try {
    const ended = await run([load, ...options.words ?? []], {
      CUDA_INJECTION64_PATH: options.profiler,
      LD_LIBRARY_PATH: libraries,
      STRICT_LEDGER: ledger,
      ...options.env,
    });
    const lines = (await Deno.readTextFile(ledger)).split("\n").filter(Boolean);
    return { ...ended, misuse: [...new Set(lines)] };
  } finally {
    await Deno.remove(ledger);
  }
}

/** What the load of many launches prints. */
export interface StormResult {
  /** Index of the symbol, launches with a record, and their nanoseconds: of each address. */
  kernels?: [number, number, number][];
  /** CPU time of the threads of nobody else: the profiler's. */
  profiler_ns: number;
  /** CPU time of CUPTI's thread for delivery, in which the profiler's completion runs. */
  delivery_ns: number;
  /** CPU time of CUPTI's threads that write records. */
  worker_ns: number;
  /** CPU time of a launch on its thread, median of bursts. */
  launch_ns: number;
  records: number;
  /** Records that had no buffer. */
  dropped: number;
  /** Records that the profiler read. */
  read: number;
  wall_ns: number;
  before_kib: number;
  peak_kib: number;
  settled_kib: number;
}

/** What the load of everything prints: what has to come of it. */
export interface MixedResult {
  /** The name as hexadecimal bytes. */
  kernels: { device: number; calls: number; ns: number; name: string }[];
  /** Launches and nanoseconds of the graph of each device. */
  graphs: [number, number][];
  /** Calls, bytes and nanoseconds of each kind of copy and set, on each device. */
  copies: Record<string, [number, number, number]>;
  dropped: number;
}
