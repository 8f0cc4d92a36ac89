/** Kills of the API or its database server during requests. */

import assert from "node:assert/strict";
import { testOnServer } from "../../edge/testing/each_storage.ts";
import { Ledger, range } from "./ledger.ts";
import { startStack } from "./stack.ts";
import { kills, nameOf } from "./table.ts";

/** Statements of requests. */
const STEPS = [
  "find the key",
  "is the instance known",
  "count the instances",
  "find the newest block",
  "insert the window",
  "read the pieces",
  "insert the roll-up",
  "find the instances",
  "read the newest entries",
];

const WINDOWS = 14;
/** In the past, not at a whole minute: the roll-up of the first minute has stored pieces. */
const START = Math.floor(Date.now() / 60_000) * 60 - 1_003;

testOnServer(
  "a server or an API that is killed loses no window and stores none twice",
  async (t) => {
    await using stack = await startStack();
    for (const kill of kills(STEPS)) {
      await t.step(nameOf(kill), async () => {
        const ledger = new Ledger({ key: await stack.newKey(), start: START, windows: WINDOWS });
        let isStruck = false;
        stack.proxy.arm({ ...kill, strike: () => stack.kill(kill.victim) })
          .then(() => isStruck = true);
        for (const i of range(0, WINDOWS)) {
          await ledger.deliver(stack, i, stack.revive);
          await ledger.expectPrefix(stack.url);
          await stack.revive();
        }
        assert.ok(isStruck);
        await ledger.expectWhole(stack.url);
      });
    }
  },
);
