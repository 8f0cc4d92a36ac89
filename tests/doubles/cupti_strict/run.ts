/** Runs of the load on the strict double under `service-run`. */

import assert from "node:assert/strict";
import { decode, type Signals, signals } from "@service/core";
import { startRun } from "../../stack.ts";
import { temporaryDirectory } from "../../temporary_directory.ts";
import { testedLibrary } from "../cuda/build.ts";
import { SANITIZER_ENVIRONMENT } from "../cuda/harness.ts";
import { strict } from "./build.ts";
import type { LoadOptions } from "./harness.ts";

/** A run of the load; the profiler is ours. */
export interface MeasuredOptions extends Omit<LoadOptions, "profiler"> {
  /** Flags of `service-run`. */
  flags?: string[];
  /** Whether the run may say something on stderr. */
  speaks?: boolean;
}

/** What was measured, and what the load says. */
export interface Measured {
  payload: Signals;
  /** The one object that the load prints. */
  // deno-lint-ignore no-explicit-any
  printed: any;
  /** Lines of the ledger of misuse, each once. */
  misuse: string[];
}

/** Runs the load to its end, and reads the last snapshot. */
export async function measure(options: MeasuredOptions): Promise<Measured> {
  await using directory = await temporaryDirectory();
  const { load, libraries } = await strict(options);
  const at = (file: string) => `${directory.path}/${file}`;
  const command = [load, ...options.words ?? []];
  if (options.sanitizer) {
    const library = await testedLibrary({ sanitizer: options.sanitizer });
    command.unshift("env", `CUDA_INJECTION64_PATH=${library}`);
  }
  await using run = startRun(command, {
    directory: directory.path,
    flags: ["--listen-port", "0", ...options.flags ?? []],
    env: {
      SERVICE_DEBUG: "",
      SERVICE_SNAPSHOT_FILE: at("last.json"),
      LD_LIBRARY_PATH: libraries,
      CUDA_INJECTION64_PATH: "",
      STRICT_LEDGER: at("ledger"),
      ...SANITIZER_ENVIRONMENT,
      ...options.env,
    },
  });
  const { status, stdout, stderr } = await run.ended;
  if (!options.speaks) assert.equal(stderr, "");
  assert.equal(status.code, 0, stderr);
  const ledger = await Deno.readTextFile(at("ledger")).catch(() => "");
  return {
    payload: signals.check(decode(await Deno.readTextFile(at("last.json")))),
    printed: JSON.parse(stdout),
    misuse: [...new Set(ledger.split("\n").filter(Boolean))],
  };
}

/** Uuid of a device of the strict driver, in NVML's form. */
export function strictUuid(device: number): string {
  return `GPU-50515253-5455-5657-5859-5a5b5c5d5e0${device}`;
}
