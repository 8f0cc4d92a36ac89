/** A run of windows of one second each, in memory and in a run file. */

import assert from "node:assert/strict";
import { emptyWindow, type Series, seriesKey, type Window } from "@service/core";
import { WindowPacker } from "@service/core/packed";
import { SECOND_NS } from "@service/core/time";
import { RunsReader } from "../../runs/reader.ts";
import { RunFile } from "../../runs/run_file.ts";
import type { WindowSource } from "../../serve/windows.ts";
import { olderWindows } from "../older_windows.ts";

/** Start of the run: seven seconds before a whole ten. */
export const START_NS: bigint = 1_790_000_003n * SECOND_NS;

/** The run. */
export const INSTANCE = {
  instance_id: "0123456789ab",
  profiler_version: "0.1.0",
  start_ns: START_NS,
  tags: {},
  attributes: {},
};

/** A tick's window: 1 more of a counter. */
export function tick(i: number): Window {
  const from_ns = START_NS + BigInt(i) * SECOND_NS;
  const window = { ...emptyWindow(from_ns), to_ns: from_ns + SECOND_NS };
  const identity = { name: "ticks_total", type: "counter", tags: {} } as const;
  const counter: Series = { ...identity, updated_ns: window.to_ns, total: 1 };
  window.series.set(seriesKey(counter), counter);
  return window;
}

/** The windows in a run file of a directory. */
export async function inRunFile(
  windows: readonly Window[],
  directory: string,
): Promise<WindowSource> {
  const run = new RunFile({ instance: INSTANCE, directory, warn: assert.fail });
  const packer = new WindowPacker(INSTANCE);
  for (const window of windows) await run.add(await packer.pack(window));
  await run.finish(10_000);
  return olderWindows({ reader: new RunsReader(directory), ...INSTANCE });
}
