/** Selections: metrics by name or prefix, and profiles that keep their sums. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { selectIn } from "./selection.ts";
import type { ProfileSeries } from "./series/mod.ts";
import { REST_FRAME } from "./series/profile.ts";
import { snapshot } from "./snapshot.ts";
import { addSums, rounded, type Sum } from "./sum.ts";
import { windows } from "./testdata/arbitrary.ts";

const someWindow = windows(0n, 10n);

Deno.test("a selected window has the metrics that a snapshot of the whole one selects", () => {
  const names = fc.constantFrom(["a_bytes"], ["b*", "a_bytes"], ["b*"], ["*"]);
  fc.assert(fc.property(someWindow, names, (window, metrics) => {
    const expected = snapshot(window, { context: {}, selection: { metrics } });
    selectIn(window, { metrics });
    assert.deepEqual(snapshot(window, { context: {} }), expected);
  }));
});

Deno.test("what top leaves out is one frame: no sum or sample is lost, also by a second selection", () => {
  fc.assert(fc.property(someWindow, fc.nat(4), (window, top) => {
    const shown = snapshot(window, { context: {}, selection: { top } });
    const whole = structuredClone(window);
    selectIn(window, { top });
    for (const [key, series] of window.series) {
      if (series.type !== "profile") continue;
      const before = whole.series.get(key) as ProfileSeries;
      assert.deepEqual(total(series), total(before));
      assert.equal(series.frames.has(REST_FRAME), before.frames.size > top);
      const smallest = largest([...series.frames.keys()], before, -1);
      const hidden = [...before.frames.keys()].filter((name) => !series.frames.has(name));
      assert.equal(series.frames.size, Math.min(before.frames.size, top + 1));
      if (hidden.length > 0 && top > 0) assert.ok(smallest >= largest(hidden, before, 1));
    }
    const selected = structuredClone(window);
    selectIn(window, { top });
    assert.deepEqual(window, selected);
    for (const selection of [{}, { top }]) {
      assert.deepEqual(snapshot(window, { context: {}, selection }), shown);
    }
  }));
});

/** The largest value of the named frames of `whole`, or with `sign` -1 the smallest. */
function largest(names: readonly string[], { frames }: ProfileSeries, sign: 1 | -1): number {
  const values = names.flatMap((name) => {
    const frame = frames.get(name);
    return frame ? [sign * rounded(frame.value)] : [];
  });
  return sign * Math.max(...values);
}

function total({ frames }: ProfileSeries): { value: Sum; samples: number } {
  const sums = [...frames.values()];
  return {
    value: sums.reduce<Sum>((sum, { value }) => addSums(sum, value), 0),
    samples: sums.reduce((sum, { samples }) => sum + samples, 0),
  };
}
