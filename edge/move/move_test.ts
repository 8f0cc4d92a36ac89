/** Moves of projects between databases: no upload is lost, and reads are answered meanwhile. */

import assert from "node:assert/strict";
import { encodeUpload } from "@service/core";
import { runScript, type ServerProcess, startProcess } from "../testing/process.ts";
import { startServer, temporaryFolder, testOnFile, testOnServer } from "../testing/each_storage.ts";
import {
  makeUpload,
  newInstanceId,
  NOW_TS,
  post,
  read,
  refused,
  send,
  startService,
  type TestService,
  work,
} from "../testing/api.ts";
import { openDatabase } from "../database/database.ts";
import { SIBLING_FILE } from "../database/databases.ts";
import { blockWrites, renewBlock } from "../database/write_block.ts";
import { moveProject } from "./move.ts";
import { createKey, createProject, listProjects } from "../tenancy/projects.ts";
import { DAY_NS } from "../windows/levels.ts";
import { purge } from "../windows/retention.ts";

const START = NOW_TS - 100;
const UPLOADERS = 4;
/** Windows of each uploader before the move begins, and after it has ended. */
const WINDOWS = 20;

testOnFile("a project moves with all that it has, and goes on there", async (service) => {
  using folder = temporaryFolder();
  const { databases } = service.service;
  await createProject(databases, { name: "mover", now_ns: 1n });
  const key = await createKey(service.db, { project: "mover", name: "k", now_ns: 1n });
  const mover = { ...service, key };
  const instance_id = newInstanceId();
  const errors = [{ level: "error" as const, message: "e", exception: "", log_ns: 1n }];
  for (const from of [0, 10, 30]) {
    await send(mover, { instance_id, from: START + from, to: START + from + 10, errors });
  }
  const query = `instance_id=${instance_id}&start=${START}`;
  const before = await read(mover, query);
  await moveProject(databases, { project: "mover", to: folder.url });
  service.service.keys.forget();
  assert.deepEqual(await read(mover, query), before);
  await send(mover, { instance_id, from: START + 20, to: START + 30 });
  assert.equal(work(await read(mover, query)), 4);
  const [, listed] = await listProjects(databases, 1n);
  assert.equal(listed!.database, folder.url);
  assert.equal(listed!.instances, 1);

  await moveProject(databases, { project: "mover", to: SIBLING_FILE });
  service.service.keys.forget();
  assert.equal(work(await read(mover, query)), 4);
});

testOnFile("an app that knows the old database stores nothing there", async (service) => {
  using folder = temporaryFolder();
  const { databases } = service.service;
  const instance_id = newInstanceId();
  await send(service, { instance_id, from: START, to: START + 10 });
  const name = (await listProjects(databases, 1n))[0]!.name;
  await moveProject(databases, { project: name, to: folder.url });
  const upload = makeUpload({ instance_id, from: START + 10, to: START + 20 });
  const late = await post(service, encodeUpload(upload));
  assert.equal(late.headers.get("retry-after"), "1");
  await refused(late, 503);
  const again = await post(service, encodeUpload(upload));
  assert.equal(again.status, 200, await again.text());

  // The retention removes the old rows in the source too.
  await purge(service.db, service.clock.now_ns + DAY_NS);
  const left = await service.db.query("SELECT * FROM instances");
  assert.deepEqual(left.rows, []);
});

testOnFile("a move is refused where it would mix or lose rows", async (service) => {
  using folder = temporaryFolder();
  const { databases } = service.service;
  const name = (await listProjects(databases, 1n))[0]!.name;
  const instance_id = newInstanceId();
  await send(service, { instance_id, from: START, to: START + 10 });
  const alias = databases.urlOf({ id: 0n, database_url: null }).replace("/service", "/./service");
  await assert.rejects(moveProject(databases, { project: name, to: alias }), /same database/);
  await assert.rejects(moveProject(databases, { project: "no", to: alias }), /Cannot find/);
  {
    using other = await startService(folder.url);
    await send(other, { instance_id, from: START, to: START + 10 });
    await other.db.write(["UPDATE instances SET project = 99"]);
  }
  await assert.rejects(
    moveProject(databases, { project: name, to: folder.url }),
    /another project/,
  );
  await send(service, { instance_id, from: START + 10, to: START + 20 });
});

/** The project of the service's key, and an upload to it. */
async function projectOf(service: TestService) {
  const { databases } = service.service;
  const { name } = (await listProjects(databases, 1n))[0]!;
  const parts = { instance_id: newInstanceId(), from: START, to: START + 10 };
  return { databases, name, parts, body: encodeUpload(makeUpload(parts)) };
}

testOnFile("what an interrupted move left is undone by a move to where it is", async (service) => {
  const { databases, name, parts, body } = await projectOf(service);
  await blockWrites(service.db, { project: 1n, token: "interrupted" });
  await refused(await post(service, body), 503);
  await moveProject(databases, { project: name, to: null });
  await send(service, parts);
});

testOnFile("writes are blocked no longer than a minute after a move died", async (service) => {
  const { parts, body } = await projectOf(service);
  const block = { project: 1n, token: "dead" };
  await blockWrites(service.db, block);
  await refused(await post(service, body), 503);
  const { rows } = await service.db.query(
    "SELECT until_s - unixepoch() AS left_s FROM write_blocks",
  );
  assert.ok(rows[0]!.left_s as bigint <= 60n);
  await service.db.write(["UPDATE write_blocks SET until_s = unixepoch()"]);
  await send(service, parts);
  await assert.rejects(renewBlock(service.db, block), /block of writes has ended/);
});

testOnFile(
  "while a project is copied uploads are refused, and reads are answered",
  async (service) => {
    using folder = temporaryFolder();
    const { databases, name, parts } = await projectOf(service);
    await send(service, parts);
    const { instance_id } = parts;
    const late = encodeUpload(makeUpload({ instance_id, from: START + 10, to: START + 20 }));
    let pages = 0;
    const write = service.db.write;
    service.db.write = async (statements) => {
      const results = await write.call(service.db, statements);
      if (!JSON.stringify(statements, bigintText).includes("SET until_s")) return results;
      pages++;
      await refused(await post(service, late), 503);
      assert.equal(work(await read(service, `instance_id=${instance_id}&start=${START}`)), 1);
      assert.equal(await purge(service.db, service.clock.now_ns + DAY_NS), true);
      return results;
    };
    await moveProject(databases, { project: name, to: folder.url });
    assert.ok(pages > 1);
    service.db.write = write;
    service.service.keys.forget();
    assert.equal((await post(service, late)).status, 200);
    assert.equal(work(await read(service, `instance_id=${instance_id}&start=${START}`)), 2);
  },
);

testOnFile("a move whose block has ended fails, and uploads go on", async (service) => {
  using folder = temporaryFolder();
  const { databases, name, parts } = await projectOf(service);
  await send(service, parts);
  const { query } = service.db;
  service.db.query = async (statement) => {
    if (JSON.stringify(statement, bigintText).includes("id > :last")) {
      await service.db.write(["UPDATE write_blocks SET until_s = unixepoch()"]);
    }
    return await query.call(service.db, statement);
  };
  await assert.rejects(moveProject(databases, { project: name, to: folder.url }), /has ended/);
  service.db.query = query;
  await send(service, { ...parts, from: START + 10, to: START + 20 });
  await moveProject(databases, { project: name, to: folder.url });
});

testOnFile("a move that takes longer than its block does not switch", async (service) => {
  using folder = temporaryFolder();
  const { databases, name, parts } = await projectOf(service);
  await send(service, parts);
  const { query } = service.db;
  service.db.query = async (statement) => {
    const result = await query.call(service.db, statement);
    const [row] = result.rows;
    if (!row?.now_s) return result;
    return { ...result, rows: [{ ...row, now_s: row.now_s as bigint - 61n }] };
  };
  await assert.rejects(moveProject(databases, { project: name, to: folder.url }), /took too long/);
  service.db.query = query;
  await send(service, { ...parts, from: START + 10, to: START + 20 });
  assert.equal(
    (await listProjects(databases, 1n))[0]!.database,
    databases.urlOf({ id: 1n, database_url: null }),
  );
});

testOnFile("of two moves of a project the later one wins", async (service) => {
  using folder = temporaryFolder();
  const { databases, name, parts } = await projectOf(service);
  await send(service, parts);
  const elsewhere = `file:${folder.path}/elsewhere.db`;
  const { query } = service.db;
  let later: Promise<void> | undefined;
  service.db.query = async (statement) => {
    if (!later && JSON.stringify(statement, bigintText).includes("id > :last")) {
      later = moveProject(databases, { project: name, to: elsewhere });
      await later;
    }
    return await query.call(service.db, statement);
  };
  await assert.rejects(moveProject(databases, { project: name, to: folder.url }), /has ended/);
  service.db.query = query;
  assert.equal((await listProjects(databases, 1n))[0]!.database, elsewhere);
  service.service.keys.forget();
  await send(service, { ...parts, from: START + 10, to: START + 20 });
});

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

Deno.test("under load through two processes, a move of files loses no upload", async () => {
  using folder = temporaryFolder();
  await moveUnderLoad(folder.url, `file:${folder.path}/elsewhere.db`);
});

testOnServer("under load through two processes, a move of servers loses no upload", async () => {
  await using from = await startServer();
  await using to = await startServer();
  await moveUnderLoad(from.url, to.url);
});

async function moveUnderLoad(url: string, to: string): Promise<void> {
  const env = { SERVICE_DATABASE_URL: url };
  const created = await runScript("./admin.ts", ["create-key", "--project", "p"], env);
  const key = created.stdout.trim();
  await using first = await startProcess(url);
  await using second = await startProcess(url);
  const apis = [first, second];
  const start = Math.floor(Date.now() / 1000) - 100_000;
  const begun = Promise.withResolvers<void>();
  let isMoved = false;
  const uploading = Promise.all(Array.from({ length: UPLOADERS }, async (_, i) => {
    const instance_id = newInstanceId();
    let sent = 0;
    for (let left = WINDOWS; left > 0; sent++) {
      const from = start + sent;
      const body = encodeUpload(makeUpload({ instance_id, start, from, to: from + 1 }));
      await upload(apis[(sent + i) % 2]!, key, body);
      if (sent === WINDOWS) begun.resolve();
      if (isMoved) left--;
    }
    return { instance_id, sent };
  }));
  await begun.promise;
  const moved = await runScript("./admin.ts", ["move-project", "p", "--to", to], env);
  assert.deepEqual(moved, { code: 0, stdout: "", stderr: "" });
  isMoved = true;
  const instances = await uploading;
  for (const { url } of apis) {
    for (const { instance_id, sent } of instances) {
      const query = `instance_id=${instance_id}&start=${start}`;
      const headers = { "x-api-key": key };
      const response = await fetch(`${url}/api/v1/signals?${query}`, { headers });
      const { metrics, payload_ns } = await response.json();
      assert.equal(metrics[0].stats.total, sent);
      assert.equal(Math.round(payload_ns / 1e9), start + sent);
    }
  }
  using there = await openDatabase({ url: to });
  const { rows } = await there.query("SELECT count(*) AS count FROM windows WHERE level = 0");
  assert.equal(Number(rows[0]!.count), instances.reduce((sum, { sent }) => sum + sent, 0));
}

/** Sends a window until it is stored, as the profiler does. */
async function upload({ url }: ServerProcess, key: string, body: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/api/v1/ingest`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body,
    });
    const text = await response.text();
    if (response.status === 200) return;
    assert.equal(response.status, 503, text);
    const seconds = Number(response.headers.get("retry-after"));
    assert.ok(seconds >= 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
