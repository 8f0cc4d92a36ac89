/** Selections: metrics by name or prefix, and profiles that keep their sums. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { OTHER_FRAME } from "./limits.ts";
import { selectIn } from "./selection.ts";
import type { ProfileSeries } from "./series/mod.ts";
import { snapshot } from "./snapshot.ts";
import { addSums, type Sum } from "./sum.ts";
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

Deno.test("frames beyond the largest go to (other), and no sum or sample is lost", () => {
  fc.assert(fc.property(someWindow, fc.integer({ min: 1, max: 4 }), (window, top) => {
    const whole = structuredClone(window);
    selectIn(window, { top });
    for (const [key, series] of window.series) {
      if (series.type !== "profile") continue;
      const before = whole.series.get(key) as ProfileSeries;
      assert.deepEqual(total(series), total(before));
      const named = [...series.frames.keys()].filter((name) => name !== OTHER_FRAME);
      before.frames.delete(OTHER_FRAME);
      const alone = { ...whole, series: new Map([[key, before]]) };
      const [metric] = snapshot(alone, { context: {}, selection: { top } }).metrics;
      assert.equal(metric?.type, "profile");
      assert.deepEqual(
        new Set(named),
        new Set(metric.type === "profile" ? metric.stats.frames.map(({ name }) => name) : []),
      );
    }
  }));
});

function total({ frames }: ProfileSeries): { value: Sum; samples: number } {
  const sums = [...frames.values()];
  return {
    value: sums.reduce<Sum>((sum, { value }) => addSums(sum, value), 0),
    samples: sums.reduce((sum, { samples }) => sum + samples, 0),
  };
}
