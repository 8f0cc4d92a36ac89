/** Instance ids are fresh. */

import assert from "node:assert/strict";
import { newInstanceId } from "./plan.ts";

Deno.test("an instance id is twelve hex digits, and another one each time", () => {
  assert.match(newInstanceId(), /^[0-9a-f]{12}$/);
  assert.notEqual(newInstanceId(), newInstanceId());
});
