/** Windows of two sources are read as one, whatever the newer one no longer has. */

import assert from "node:assert/strict";
import { emptyWindow, mergeAll, type Window } from "@service/core";
import type { Interval } from "@service/core/gaps";
import { WindowPacker } from "@service/core/packed";
import { SECOND_NS } from "@service/core/time";
import fc from "fast-check";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import type { WindowSource } from "../serve/windows.ts";
import { History, type HistoryLimits } from "./history.ts";
import { joinWindows } from "./joined_windows.ts";
import { inRunFile, INSTANCE, START_NS, tick } from "./testdata/ticks.ts";

async function filled(windows: readonly Window[], limits?: Partial<HistoryLimits>) {
  const history = new History(
    new WindowPacker(INSTANCE),
    limits,
  );
  for (const window of windows) await history.add(window);
  return history;
}

const TICKS = Array.from({ length: 60 }, (_, i) => tick(i));

/** The cuts of the run at whole ten seconds: what is kept of it elsewhere. */
const CUTS = [TICKS.slice(0, 7), ...[7, 17, 27, 37].map((at) => TICKS.slice(at, at + 10))]
  .map((ticks) => mergeAll(ticks));

/** The newer source, and the first instant that it has. */
async function newerSource() {
  const history = await filled(TICKS, { seconds: 15 });
  const { gaps: [gap] } = await history.read({
    from_ns: START_NS,
    to_ns: START_NS + SECOND_NS * 60n,
  });
  return { history, known_ns: gap!.to_ns };
}

for (const place of ["memory", "the run file"]) {
  Deno.test(`a span is read from the history and from ${place}, each window once`, async () => {
    await using directory = await temporaryDirectory();
    await readsEachOnce(
      place === "memory" ? await filled(CUTS) : await inRunFile(CUTS, directory.path),
    );
  });
}

async function readsEachOnce(older: WindowSource): Promise<void> {
  const { history, known_ns } = await newerSource();
  const joined = joinWindows(history, older);
  const instants = fc.integer({ min: -5, max: 65 }).map((s) => START_NS + BigInt(s) * SECOND_NS);
  await fc.assert(fc.asyncProperty(instants, instants, async (a, b) => {
    const span: Interval = a < b ? { from_ns: a, to_ns: b } : { from_ns: b, to_ns: a };
    const expected = [
      ...CUTS.filter(({ to_ns }) => to_ns <= known_ns),
      ...TICKS.filter(({ to_ns }) => to_ns > known_ns),
    ].filter(({ to_ns }) => span.from_ns < to_ns && to_ns <= span.to_ns);
    const { window, payload_ns, gaps } = await joined.read(span);
    assert.deepEqual(gaps, []);
    if (expected.length === 0) assert.equal(window.series.size, 0);
    else assert.deepEqual(window, mergeAll(expected));
    const next = await joined.read({ from_ns: payload_ns, to_ns: span.to_ns });
    assert.equal(next.window.series.size, 0, "nothing is read twice");
  }));
}

Deno.test("steps of both sources count everything once, and end at multiples", async () => {
  await using directory = await temporaryDirectory();
  const { history, known_ns } = await newerSource();
  const joined = joinWindows(history, await inRunFile(CUTS, directory.path));
  const instants = fc.integer({ min: -5, max: 65 }).map((s) => START_NS + BigInt(s) * SECOND_NS);
  const lengths = fc.integer({ min: 1, max: 40 }).map((s) => BigInt(s) * SECOND_NS);
  await fc.assert(fc.asyncProperty(instants, instants, lengths, async (a, b, step_ns) => {
    const span: Interval = a < b ? { from_ns: a, to_ns: b } : { from_ns: b, to_ns: a };
    const { window } = await joined.read(span);
    const steps = await Array.fromAsync(joined.steps({ ...span, step_ns }));
    assert.deepEqual(
      steps.length === 0 ? emptyWindow(window.from_ns) : mergeAll(steps.map((one) => one.window)),
      steps.length === 0 ? { ...window, to_ns: window.from_ns } : window,
    );
    for (const [i, { window: { to_ns }, payload_ns, gaps }] of steps.entries()) {
      assert.deepEqual(gaps, []);
      if (i + 1 < steps.length || payload_ns !== span.to_ns) {
        assert(payload_ns % step_ns === 0n || to_ns <= known_ns);
      }
      assert.equal((to_ns - 1n) / step_ns, (payload_ns - 1n) / step_ns);
    }
    const numbers = steps.map(({ window }) => (window.to_ns - 1n) / step_ns);
    assert.equal(new Set(numbers).size, numbers.length);
  }));
});

Deno.test("what neither source has is a gap", async () => {
  const { history, known_ns } = await newerSource();
  const span = { from_ns: START_NS, to_ns: START_NS + 60n * SECOND_NS };
  const early = CUTS.slice(0, 2);
  const { window, payload_ns, gaps } = await joinWindows(history, await filled(early)).read(span);
  const late = TICKS.filter(({ to_ns }) => to_ns > known_ns);
  assert.deepEqual(gaps, [{ from_ns: early[1]!.to_ns, to_ns: known_ns }]);
  assert.deepEqual([window.from_ns, window.to_ns, payload_ns], [START_NS, span.to_ns, span.to_ns]);
  assert.deepEqual(
    [...window.series.values()].map((series) => series.type === "counter" && series.total),
    [17 + late.length],
  );

  const none = await joinWindows(history, await filled([])).read(span);
  assert.deepEqual(none.gaps, [{ from_ns: START_NS, to_ns: known_ns }]);
  assert.equal(none.window.from_ns, known_ns);
});
