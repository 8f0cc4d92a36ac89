/** Pacing: only long work yields to the event loop. */

import assert from "node:assert/strict";
import { createPace } from "./pacing.ts";

Deno.test("work that is short does not yield", () => {
  const pace = createPace(60_000);
  assert.equal(pace(), undefined);
});

Deno.test("long work yields to what waits for the event loop", async () => {
  const pace = createPace(0);
  let served = false;
  const timer = setTimeout(() => served = true, 0);
  await pace();
  assert.equal(served, true);
  clearTimeout(timer);
});
