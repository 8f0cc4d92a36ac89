/** Faults of clients: wrong clocks, cut requests, shared ids, and late or repeated windows. */

import assert from "node:assert/strict";
import { decode, instanceList } from "@service/core";
import { type ServerProcess, startProcess } from "../../edge/testing/process.ts";
import { startServer, temporaryFolder, testOnServer } from "../../edge/testing/each_storage.ts";
import { newInstanceId, newKey } from "../../edge/testing/api.ts";
import { openDatabases } from "../../edge/database/databases.ts";
import { Ledger, range } from "./ledger.ts";
import { isWhole } from "./table.ts";

const NOW = Math.floor(Date.now() / 1_000);
const HOUR = 3_600;
const WINDOWS = isWhole ? 40 : 15;

/** Two API processes on one database, and a key. */
interface Pair extends AsyncDisposable {
  urls: [string, string];
  key: string;
  /** Output of the first process on stderr. */
  stderr: () => string;
}

async function startPair(url: string): Promise<Pair> {
  await using started = new AsyncDisposableStack();
  const starting = async () => started.use<ServerProcess>(await startProcess(url));
  const processes = await Promise.all([starting(), starting()]);
  await using databases = await openDatabases({ url });
  const key = await newKey(databases.control);
  const all = started.move();
  return {
    urls: [processes[0].url, processes[1].url],
    key,
    stderr: processes[0].stderr,
    [Symbol.asyncDispose]: () => all[Symbol.asyncDispose](),
  };
}

/** Registers a test twice: on a file and on a server. */
function testOnBoth(name: string, run: (pair: Pair) => Promise<void>): void {
  Deno.test(`${name}, on a file`, async () => {
    using folder = temporaryFolder();
    await using pair = await startPair(folder.url);
    await run(pair);
  });
  testOnServer(`${name}, on a server`, async () => {
    await using server = await startServer();
    await using pair = await startPair(server.url);
    await run(pair);
  });
}

const never = () => Promise.resolve();

for (const hours of [-7, 5]) {
  testOnBoth(`an instance whose clock is ${hours} h off is listed and followed`, async (pair) => {
    const { key, urls: [url] } = pair;
    const start = NOW + hours * HOUR;
    const ledger = new Ledger({ key, start, windows: WINDOWS });
    for (const i of range(0, WINDOWS - 1)) {
      await ledger.deliver({ url }, i, never);
      await ledger.expectPrefix(url);
    }
    const response = await fetch(`${url}/api/v1/instances`, { headers: { "x-api-key": key } });
    const { instances } = instanceList.check(decode(await response.text()));
    assert.deepEqual(instances.map(({ instance_id }) => instance_id), [ledger.instance_id]);
    await ledger.deliver({ url }, WINDOWS - 1, never);
    await ledger.expectWhole(url);
  });
}

testOnBoth("a request that is cut in its body stores nothing", async (pair) => {
  const { key, urls: [url], stderr } = pair;
  const ledger = new Ledger({ key, start: NOW - 1_003, windows: 5 });
  for (const i of range(0, ledger.windows)) {
    await sendHalf(url, key, ledger.body(i));
    if (ledger.hasBegun) await ledger.expectPrefix(url);
    await ledger.deliver({ url }, i, never);
  }
  await ledger.expectWhole(url);
  assert.doesNotMatch(stderr(), /"error"/);
});

testOnBoth("two uploaders with one instance id store each window once", async (pair) => {
  const { key, urls } = pair;
  const start = NOW - 1_003;
  const ledger = new Ledger({ key, start, windows: WINDOWS, instance_id: newInstanceId() });
  await Promise.all(urls.map(async (url) => {
    for (const i of range(0, WINDOWS)) {
      await ledger.deliver({ url }, i, never);
      await ledger.expectPrefix(url);
    }
  }));
  await ledger.expectWhole(urls[0]);
});

testOnBoth("another instance with the same id is refused, and changes nothing", async (pair) => {
  const { key, urls } = pair;
  const ours = new Ledger({ key, start: NOW - 1_003, windows: WINDOWS });
  const { instance_id } = ours;
  const others = new Ledger({ key, start: NOW - 1_001, windows: WINDOWS, instance_id });
  for (const i of range(0, WINDOWS)) {
    await ours.deliver({ url: urls[0] }, i, never);
    const body = others.body(i);
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const response = await fetch(`${urls[1]}/api/v1/ingest`, { method: "POST", headers, body });
    assert.equal(response.status, 409, await response.text());
  }
  await ours.expectWhole(urls[1]);
});

testOnBoth(
  "200 followers read no wrong prefix while windows arrive late, twice and out of order",
  async (pair) => {
    const { key, urls } = pair;
    const ledgers = range(0, 4).map(() =>
      new Ledger({ key, start: NOW - 2_003, windows: isWhole ? 120 : 15 })
    );
    let isOver = false;
    const followers = range(0, 200).map(async (i) => {
      for (let reads = 0; !isOver; reads++) {
        const ledger = ledgers[i % ledgers.length]!;
        if (ledger.hasBegun) await ledger.expectPrefix(urls[(i + reads) % 2]!);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 2_000));
      }
    });
    await Promise.all(ledgers.map((ledger) =>
      Promise.all(
        range(0, 3).map(async () => {
          for (const i of mixed(ledger.windows)) {
            await ledger.deliver({ url: urls[Math.random() < 0.5 ? 0 : 1] }, i, never);
          }
        }),
      )
    ));
    isOver = true;
    await Promise.all(followers);
    for (const ledger of ledgers) {
      await ledger.expectWhole(urls[0]);
      for (const _ of range(0, 30)) await ledger.expectSpan(urls[1], randomSpan(ledger.windows));
    }
  },
);

/** Sends a request, and closes the connection in the middle of its body. */
async function sendHalf(url: string, key: string, body: string): Promise<void> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const head = `POST /api/v1/ingest HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  await connection.write(new TextEncoder().encode(head + body.slice(0, body.length / 2)));
}

/** Numbers of all windows, each delayed by up to six places; the final one is last. */
function mixed(windows: number): number[] {
  const late = range(0, windows).map((i) => ({ i, at: i + Math.random() * 6 }));
  late.at(-1)!.at = Infinity;
  return late.sort((a, b) => a.at - b.at).map(({ i }) => i);
}

function randomSpan(windows: number): [number, number] {
  const from = Math.floor(Math.random() * windows);
  return [from, from + 1 + Math.floor(Math.random() * (windows - from))];
}
