/** The hosted API as a process: restarts, signals, wrong settings. */

import assert from "node:assert/strict";
import { encodeUpload } from "@service/core";
import { openDatabase } from "./database/database.ts";
import { createKey } from "./tenancy/projects.ts";
import { runScript, startProcess } from "./testing/process.ts";
import { temporaryFolder } from "./testing/each_storage.ts";
import { makeUpload, newInstanceId, startService } from "./testing/api.ts";

async function newKeyAt(url: string): Promise<string> {
  using service = await startService(url);
  return service.key;
}

Deno.test("a window acknowledged before kill -9 is stored once after a restart", async () => {
  using folder = temporaryFolder();
  const key = await newKeyAt(folder.url);
  const instance_id = newInstanceId();
  const from = Math.floor(Date.now() / 1000) - 100;
  const body = encodeUpload(
    makeUpload({ instance_id, start: from, from, to: from + 10, work: 3, final: true }),
  );
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const ingest = async (url: string) => {
    const response = await fetch(`${url}/api/v1/ingest`, { method: "POST", headers, body });
    return await response.text();
  };
  {
    await using server = await startProcess(folder.url);
    assert.match(await ingest(server.url), /"stored":true/);
    await server.stop("SIGKILL");
  }
  await using server = await startProcess(folder.url);
  assert.match(await ingest(server.url), /"stored":false/);
  const query = `instance_id=${instance_id}&start=${from}&end=${from + 10}`;
  const response = await fetch(`${server.url}/api/v1/signals?${query}`, { headers });
  const { metrics } = await response.json();
  assert.deepEqual(metrics.map(({ stats }: { stats: unknown }) => stats), [{ total: 3 }]);
});

Deno.test("it listens on loopback only, and a signal ends it with status 0", async () => {
  using folder = temporaryFolder();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    await using server = await startProcess(folder.url);
    assert.equal(new URL(server.url).hostname, "127.0.0.1");
    const response = await fetch(`${server.url}/health`);
    assert.deepEqual(await response.json(), { status: "ok" });
    assert.equal(await server.stop(signal), 0);
  }
});

Deno.test("an invalid setting ends it with one clear line", async () => {
  const { code, stderr } = await runScript("./main.ts", [], { PORT: "http" });
  assert.equal(code, 2);
  assert.equal(stderr, 'Cannot use PORT: must be a whole number from 0 to 65535: got "http"\n');
});

Deno.test("an unusable database ends it with one clear line", async () => {
  const env = { SERVICE_DATABASE_URL: "file:/nowhere/at/all/service.db", PORT: "0" };
  const { code, stderr } = await runScript("./main.ts", [], env);
  assert.equal(code, 1);
  assert.match(stderr, /^Cannot use the database: .*\n$/);
});

const UNSUPPORTED =
  "Cannot use the database: a program whose databases are not supported made it; " +
  "nothing was changed in it, start with a new database";

/** Makes a database as programs did before schemas named the oldest program. */
async function makeUnsupported(url: string): Promise<void> {
  using db = await openDatabase({ url });
  await db.write([
    "CREATE TABLE schema (version INTEGER PRIMARY KEY) STRICT",
    "INSERT INTO schema VALUES (1)",
  ]);
}

Deno.test("an unsupported database ends every program with one clear line", async () => {
  using folder = temporaryFolder();
  await makeUnsupported(folder.url);
  const env = { SERVICE_DATABASE_URL: folder.url, PORT: "0" };
  for (const [script, ...args] of [["main.ts"], ["migrate.ts"], ["admin.ts", "list-keys"]]) {
    const { code, stderr } = await runScript(script!, args, env);
    assert.deepEqual([code, stderr], [1, `${UNSUPPORTED}\n`]);
  }
});

Deno.test("unsupported databases of projects are named, and other projects are served", async () => {
  using folder = temporaryFolder();
  using service = await startService(folder.url);
  for (const project of ["a", "b"]) {
    const database_url = `file:${folder.path}/${project}.db`;
    await makeUnsupported(database_url);
    await createKey(service.db, { project, name: "k", now_ns: 1n, database_url });
  }
  const env = { SERVICE_DATABASE_URL: folder.url };
  const { code, stderr } = await runScript("migrate.ts", [], env);
  const lines = [2, 3].map((id) => `${UNSUPPORTED} (project ${id})\n`).join("");
  assert.deepEqual([code, stderr], [1, lines]);

  await using server = await startProcess(folder.url);
  const headers = { "x-api-key": service.key };
  const response = await fetch(`${server.url}/api/v1/instances`, { headers });
  assert.equal(response.status, 200, await response.text());
  assert.equal(await server.stop("SIGTERM"), 0);
  for (const id of [2, 3]) {
    assert.match(server.stderr(), new RegExp(`of project ${id}, .*${UNSUPPORTED}`));
  }
});
