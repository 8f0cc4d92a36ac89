/** Upgrades: programs that know different schema versions serve one database as far as it allows them. */

import assert from "node:assert/strict";
import { openDatabase } from "../../edge/database/database.ts";
import { migrate } from "../../edge/database/schema.ts";
import { newKey } from "../../edge/testing/api.ts";
import { startServer, temporaryFolder, testOnServer } from "../../edge/testing/each_storage.ts";
import { LATER, NEWEST } from "../../edge/testing/later_migrations.ts";
import { type ServerProcess, startProcess } from "../../edge/testing/process.ts";
import { Ledger, range, WITHOUT_RATE_LIMIT } from "./ledger.ts";

const START = Math.floor(Date.now() / 1_000) - 1_003;
const WINDOWS = 40;

const TOO_OLD = new RegExp(
  `Cannot use the database: its schema has version ${
    NEWEST + 2
  } .* this one knows version ${NEWEST}; ` +
    "start a newer program$",
  "m",
);

/** Starts a program that knows versions up to `version`. */
function start(
  url: string,
  version: number,
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  return startProcess(url, {
    script: "testing/server_of_schema.ts",
    env: { ...WITHOUT_RATE_LIMIT, TEST_SCHEMA_VERSION: String(version), ...env },
  });
}

/** An instance in the database at `url` that has sent nothing. */
async function newLedger(url: string): Promise<Ledger> {
  using db = await openDatabase({ url });
  await migrate(db);
  return new Ledger({ key: await newKey(db), start: START, windows: WINDOWS });
}

/** Sends windows to the processes in turn; each then reads all that were acknowledged. */
async function deliver(ledger: Ledger, windows: number[], to: ServerProcess[]): Promise<void> {
  for (const i of windows) {
    const { url } = to[i % to.length]!;
    assert.equal(await ledger.send(url, i), "acknowledged");
    for (const { url } of to) await ledger.expectPrefix(url);
  }
}

async function upgrade(url: string): Promise<void> {
  const ledger = await newLedger(url);
  await using first = await start(url, NEWEST);
  await deliver(ledger, range(0, 5), [first]);

  const [second] = await Promise.all([
    start(url, NEWEST + 1),
    deliver(ledger, range(5, 10), [first]),
  ]);
  await using _second = second;
  {
    await using rolledBack = await start(url, NEWEST);
    await deliver(ledger, range(10, 20), [first, second, rolledBack]);
  }

  const [third] = await Promise.all([
    start(url, NEWEST + 2),
    deliver(ledger, range(20, 30), [second]),
  ]);
  await using _third = third;
  assert.equal(await ledger.send(first.url, 30), "again");
  assert.equal(await first.ended, 1);
  assert.match(first.stderr(), TOO_OLD);
  await assert.rejects(start(url, NEWEST), TOO_OLD);
  await deliver(ledger, range(30, WINDOWS), [second, third]);
  for (const { url } of [second, third]) await ledger.expectWhole(url);
}

/** Nobody asks the process: it looks by itself. */
async function notice(url: string): Promise<void> {
  await using first = await start(url, NEWEST, { TEST_FAST_MINUTES: "1" });
  using db = await openDatabase({ url });
  await migrate(db, LATER);
  assert.equal(await first.ended, 1);
  assert.match(first.stderr(), TOO_OLD);
}

const UPGRADED =
  "programs of two versions serve at once; the older one ends when its part is removed";
const NOTICED = "an idle process ends when the schema does not allow it any more";

for (const [name, run] of [[UPGRADED, upgrade], [NOTICED, notice]] as const) {
  Deno.test(`${name}, on a file`, async () => {
    using folder = temporaryFolder();
    await run(folder.url);
  });
  testOnServer(`${name}, on a server`, async () => {
    await using server = await startServer();
    await run(server.url);
  });
}
