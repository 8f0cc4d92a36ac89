/** Kills during the maintenance of stored windows. */

import { testOnServer } from "../../edge/testing/each_storage.ts";
import { until } from "../stack.ts";
import { Ledger, range } from "./ledger.ts";
import { type Stack, startStack } from "./stack.ts";
import { kills, nameOf } from "./table.ts";

/** Statements of the maintenance. */
const STEPS = [
  "purge windows",
  "find due instances",
  "find missing roll-ups",
  "insert the roll-up",
  "note the roll-ups",
  "replace windows by roll-ups",
  "set the next turn",
];

const WINDOWS = 12;
/** A whole minute, before the span in which windows are kept raw. */
const START = Math.floor(Date.now() / 60_000 - 3 * 1_440) * 60;
/** Roll-ups can be read at whole minutes. */
const MINUTES = [0, 6];

testOnServer("a maintenance that is killed changes no read", async (t) => {
  await using stack = await startStack();
  for (const kill of kills(STEPS)) {
    await t.step(nameOf(kill), async () => {
      const ledger = new Ledger({ key: await stack.newKey(), start: START, windows: WINDOWS });
      for (const i of range(0, WINDOWS).reverse()) await ledger.deliver(stack, i, stack.revive);
      // As after an ingest that was killed before it rolled up.
      await stack.db.write([
        "DELETE FROM windows WHERE level > 0",
        "UPDATE instances SET due_ns = 0, rolled_ns = 0",
      ]);
      await stack.kill("API");
      const struck = stack.proxy.arm({ ...kill, strike: () => stack.kill(kill.victim) });
      // Maintenance begins when the API starts.
      await stack.revive();
      await struck;
      await stack.revive();
      await ledger.expectPrefix(stack.url);
      await stack.kill("API");
      await stack.revive();
      await until(() => isDownsampled(stack, ledger));
      await ledger.expectWhole(stack.url, MINUTES);
    });
  }
});

async function isDownsampled({ db }: Stack, { instance_id }: Ledger): Promise<boolean> {
  const { rows } = await db.query({
    sql: `SELECT count(*) AS raw FROM windows WHERE level = 0
      AND instance = (SELECT id FROM instances WHERE instance_id = ?)`,
    args: [instance_id],
  });
  return rows[0]!.raw === 0n;
}
