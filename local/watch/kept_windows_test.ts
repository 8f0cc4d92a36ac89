/** Long steps from the run file count everything once, as those of all windows do. */

import assert from "node:assert/strict";
import { emptyWindow, mergeAll, type Series, seriesKey, type Window } from "@service/core";
import { WindowPacker } from "@service/core/packed";
import { SECOND_NS } from "@service/core/time";
import fc from "fast-check";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { RunsReader } from "../runs/reader.ts";
import { RunFile } from "../runs/run_file.ts";
import { History } from "./history.ts";
import { preferKept } from "./kept_windows.ts";
import { olderWindows } from "./older_windows.ts";

const START_NS = 1_790_000_003n * SECOND_NS;
const INSTANCE = {
  instance_id: "0123456789ab",
  profiler_version: "0.1.0",
  start_ns: START_NS,
  tags: {},
  attributes: {},
};

/** A second's window: 1 more of a counter. */
function tick(i: number): Window {
  const from_ns = START_NS + BigInt(i) * SECOND_NS;
  const window = { ...emptyWindow(from_ns), to_ns: from_ns + SECOND_NS };
  const identity = { name: "ticks_total", type: "counter", tags: {} } as const;
  const counter: Series = { ...identity, updated_ns: window.to_ns, total: 1 };
  window.series.set(seriesKey(counter), counter);
  return window;
}

const TICKS = Array.from({ length: 64 }, (_, i) => tick(i));

/** The cuts of the run at whole tens of seconds, and not its newest seven seconds. */
const CUTS = [TICKS.slice(0, 7), ...[7, 17, 27, 37, 47].map((at) => TICKS.slice(at, at + 10))]
  .map((ticks) => mergeAll(ticks));

Deno.test("long steps from the file are those of all windows, whatever the span", async () => {
  await using directory = await temporaryDirectory();
  const run = new RunFile({ instance: INSTANCE, directory: directory.path, warn: assert.fail });
  const packer = new WindowPacker(INSTANCE);
  for (const cut of CUTS) await run.add(await packer.pack(cut));
  await run.finish(10_000);
  const kept = olderWindows({ reader: new RunsReader(directory.path), ...INSTANCE });
  const history = new History(new WindowPacker(INSTANCE));
  for (const one of TICKS) await history.add(one);
  const windows = preferKept(history, kept);

  const instants = fc.integer({ min: -5, max: 70 }).map((s) => START_NS + BigInt(s) * SECOND_NS);
  const lengths = fc.constantFrom(1n, 5n, 10n, 20n, 30n).map((seconds) => seconds * SECOND_NS);
  await fc.assert(fc.asyncProperty(instants, instants, lengths, async (a, b, step_ns) => {
    const span = { from_ns: a < b ? a : b, to_ns: a < b ? b : a, step_ns };
    const expected = await Array.fromAsync(history.steps(span));
    const found = await Array.fromAsync(windows.steps(span));
    assert.deepEqual(found.map(({ window }) => window), expected.map(({ window }) => window));
    assert.deepEqual(found.map(({ gaps }) => gaps), expected.map(({ gaps }) => gaps));
  }));
});
