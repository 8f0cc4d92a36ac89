/** Increases of cumulative readings: from zero or a base, after restarts, without rounding. */

import assert from "node:assert/strict";
import { quantity } from "@service/core/sum";
import { CumulativeReadings } from "./cumulative.ts";
import { Recorder } from "./recorder.ts";

function gained(readings: CumulativeReadings, values: number[]): number[] {
  return values.map((value) => Number(quantity(readings.increase("n", value))));
}

Deno.test("increases count from zero, or from a first reading that is the base", () => {
  assert.deepEqual(gained(new CumulativeReadings("base"), [100, 103, 103]), [0, 3, 0]);
  assert.deepEqual(gained(new CumulativeReadings("increase"), [100, 103, 103]), [100, 3, 0]);
});

Deno.test("a reading that falls is an increase from zero, as after a restart", () => {
  assert.deepEqual(gained(new CumulativeReadings("base"), [100, 110, 4, 6]), [0, 10, 4, 2]);
});

Deno.test("increases of fractions add up to the last reading exactly", () => {
  const readings = new CumulativeReadings("increase");
  const recorder = new Recorder(0n, () => 1n);
  for (const value of [0.1, 0.3, 0.7, 1.1, 12.34]) {
    recorder.counter("n", {}, readings.increase("n", value));
  }
  const [series] = recorder.cut(1n).series.values();
  assert(series && "total" in series);
  assert.equal(quantity(series.total), 12.34);
});
