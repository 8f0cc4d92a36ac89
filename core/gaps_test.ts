/** Gaps: what windows leave out of a span. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { gapsIn, type Interval, joinInterval } from "./gaps.ts";

/** Disjoint spans in order; some of them touch. */
const spans: fc.Arbitrary<Interval[]> = fc.array(
  fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 3 })),
)
  .map((steps) => {
    let at_ns = 0n;
    return steps.map(([pause, length]) => {
      const from_ns = at_ns + BigInt(pause);
      at_ns = from_ns + BigInt(length);
      return { from_ns, to_ns: at_ns };
    });
  });

Deno.test("windows and the gaps between them cover the span once", () => {
  fc.assert(fc.property(spans, fc.nat(3), (windows, after) => {
    const to_ns = (windows.at(-1)?.to_ns ?? 0n) + BigInt(after);
    const gaps = gapsIn(windows, { from_ns: 0n, to_ns });
    const all = [...windows, ...gaps].sort((a, b) => Number(a.from_ns - b.from_ns));
    const joined: Interval[] = [];
    for (const interval of all) joinInterval(joined, interval);
    assert.deepEqual(joined, to_ns > 0n ? [{ from_ns: 0n, to_ns }] : []);
    assert.equal(length(windows) + length(gaps), to_ns);
  }));
});

function length(intervals: Interval[]): bigint {
  return intervals.reduce((sum, { from_ns, to_ns }) => sum + to_ns - from_ns, 0n);
}
