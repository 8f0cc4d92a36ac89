/** The kinds of series: each type has its own. */

import assert from "node:assert/strict";
import { kindOf, kinds, type Series } from "./mod.ts";

Deno.test("the kind of a series is the one listed for its type", () => {
  for (const [type, kind] of Object.entries(kinds)) assert.equal(kindOf({ type } as Series), kind);
});
