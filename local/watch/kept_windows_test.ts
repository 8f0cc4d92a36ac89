/** Long steps from the run file count everything once, as those of all windows do. */

import assert from "node:assert/strict";
import { mergeAll } from "@service/core";
import { WindowPacker } from "@service/core/packed";
import { SECOND_NS } from "@service/core/time";
import fc from "fast-check";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { History } from "./history.ts";
import { preferKept } from "./kept_windows.ts";
import { inRunFile, INSTANCE, START_NS, tick } from "./testdata/ticks.ts";

const TICKS = Array.from({ length: 64 }, (_, i) => tick(i));

/** The cuts of the run at whole tens of seconds, and not its newest seven seconds. */
const CUTS = [TICKS.slice(0, 7), ...[7, 17, 27, 37, 47].map((at) => TICKS.slice(at, at + 10))]
  .map((ticks) => mergeAll(ticks));

Deno.test("long steps from the file are those of all windows, whatever the span", async () => {
  await using directory = await temporaryDirectory();
  const kept = await inRunFile(CUTS, directory.path);
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
