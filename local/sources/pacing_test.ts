import assert from "node:assert/strict";
import { createPauses } from "./pacing.ts";

Deno.test("work that is short goes on without a pause", () => {
  const pause = createPauses(60_000);
  assert.equal(pause(), undefined);
});

Deno.test("work that is long lets what waits run in between", async () => {
  const pause = createPauses(0);
  let served = false;
  const timer = setTimeout(() => served = true, 0);
  await pause();
  assert.equal(served, true);
  clearTimeout(timer);
});
