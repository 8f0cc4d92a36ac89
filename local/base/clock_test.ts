/** The clock goes on when the wall clock is set back. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { createClock } from "./clock.ts";

Deno.test("the clock follows the wall clock, and goes on when that is set back", () => {
  let wall_ms = 1_790_000_000_000;
  let steady_ms = 5;
  const now = createClock({ wall: () => wall_ms, steady: () => steady_ms });
  assert.equal(now(), 1_790_000_000_000_000_000n);
  wall_ms += 1_500;
  steady_ms += 1_500;
  assert.equal(now(), 1_790_000_001_500_000_000n);
  wall_ms -= 3_600_000;
  steady_ms += 1_000;
  assert.equal(now(), 1_790_000_002_500_000_000n);
  wall_ms += 7_200_000;
  assert.equal(now(), BigInt(wall_ms) * 1_000_000n);
});

Deno.test("the clock never goes back and never stands still, however the wall clock is set", () => {
  const steps = fc.array(
    fc.tuple(fc.integer({ min: -1e7, max: 1e7 }), fc.integer({ min: 1, max: 5_000 })),
  );
  fc.assert(fc.property(steps, (jumps) => {
    let wall_ms = 1_790_000_000_000;
    let steady_ms = 0;
    const now = createClock({ wall: () => wall_ms, steady: () => steady_ms });
    let last = now();
    for (const [jump_ms, passed_ms] of jumps) {
      wall_ms += jump_ms + passed_ms;
      steady_ms += passed_ms;
      const next = now();
      assert(next >= last + BigInt(passed_ms) * 1_000_000n);
      last = next;
    }
  }));
});
