/** Databases that are copied or created while clients upload. */

import { type ServerProcess, startProcess } from "../../edge/testing/process.ts";
import { startServer, temporaryFolder, testOnServer } from "../../edge/testing/each_storage.ts";
import { newKey } from "../../edge/testing/api.ts";
import { openDatabases } from "../../edge/database/databases.ts";
import { newKeyWithoutDatabase } from "./missing_database.ts";
import { Ledger, range } from "./ledger.ts";

const START = Math.floor(Date.now() / 1_000) - 2_003;
const WINDOWS = 40;

const shortly = () => new Promise<void>((resolve) => setTimeout(resolve, 5));

async function newKeyIn(url: string): Promise<string> {
  await using databases = await openDatabases({ url });
  return await newKey(databases.control);
}

/** Copies the database during uploads: the copy must have a prefix, and accept the rest. */
async function sendAround(
  { ledger, api, copied }: {
    ledger: Ledger;
    api: ServerProcess;
    /** Copies the database, and starts an API on the copy. */
    copied: () => Promise<ServerProcess>;
  },
): Promise<void> {
  const half = WINDOWS / 2;
  for (const i of range(0, half)) await ledger.deliver(api, i, shortly);
  const before = ledger.copy();
  // Uploads continue while the copy is made.
  const rest = (async () => {
    for (const i of range(half, WINDOWS)) await ledger.deliver(api, i, shortly);
  })();
  await using restored = await copied();
  await rest;
  await ledger.expectWhole(api.url);
  before.mayHold(ledger);
  await before.expectPrefix(restored.url);
  for (const i of range(0, WINDOWS)) await before.deliver(restored, i, shortly);
  await before.expectWhole(restored.url);
}

Deno.test("a copy of a file in use has all windows acknowledged before, and accepts the rest", async () => {
  using folder = temporaryFolder();
  const key = await newKeyIn(folder.url);
  await using api = await startProcess(folder.url);
  const ledger = new Ledger({ key, start: START, windows: WINDOWS });
  await sendAround({
    ledger,
    api,
    async copied() {
      const path = `${folder.path}/copy`;
      // SQLite makes the copy: files copied one after the other may not match.
      await using databases = await openDatabases({ url: folder.url });
      await databases.control.query({ sql: "VACUUM INTO ?", args: [path] });
      return await startProcess(`file:${path}`);
    },
  });
});

testOnServer(
  "a copy of a server's data in use has a prefix, and accepts the rest",
  async () => {
    await using server = await startServer();
    const key = await newKeyIn(server.url);
    await using api = await startProcess(server.url);
    const ledger = new Ledger({ key, start: START, windows: WINDOWS });
    await using stack = new AsyncDisposableStack();
    await sendAround({
      ledger,
      api,
      async copied() {
        const copy = stack.use(await startServer({ copyOf: server.path }));
        return await startProcess(copy.url);
      },
    });
  },
);

Deno.test("two processes create a database under load: no answer comes too early, no window is lost", async () => {
  using folder = temporaryFolder();
  const key = await newKeyWithoutDatabase(folder.url);
  const ledger = new Ledger({ key, start: START, windows: WINDOWS });
  const target = { url: "http://127.0.0.1:1" };
  let isOver = false;
  const following = (async () => {
    for (; !isOver; await shortly()) {
      if (ledger.hasBegun) await ledger.expectPrefix(target.url);
    }
  })();
  const uploading = (async () => {
    for (const i of range(0, WINDOWS)) await ledger.deliver(target, i, shortly);
  })();
  const starting = async () => {
    const api = await startProcess(folder.url);
    target.url = api.url;
    return api;
  };
  const [first, second] = await Promise.all([starting(), starting()]);
  await using _first = first;
  await using _second = second;
  await uploading;
  isOver = true;
  await following;
  await ledger.expectPrefix(second.url);
  await ledger.expectWhole(first.url);
});
