/** Schemas: migrated by several processes at once, and used by the programs that they allow. */

import assert from "node:assert/strict";
import { encodeUpload } from "@service/core";
import { command } from "../../tests/command.ts";
import { get, makeUpload, newInstanceId, newKey, NOW_TS, post } from "../testing/api.ts";
import { refused, send, startService } from "../testing/api.ts";
import { startServer, temporaryFolder, testOnServer } from "../testing/each_storage.ts";
import { ADDING, LATER, NEWEST } from "../testing/later_migrations.ts";
import { type Database, openDatabase } from "./database.ts";
import { openDatabases } from "./databases.ts";
import { MIGRATIONS } from "./migrations.ts";
import { migrate, SchemaError } from "./schema.ts";

async function schema(db: Database): Promise<unknown> {
  const results = await db.read([
    "SELECT sql FROM sqlite_schema ORDER BY name",
    "SELECT * FROM schema",
  ]);
  return results.map(({ rows }) => rows);
}

Deno.test("migrating again changes nothing", async () => {
  using folder = temporaryFolder();
  using db = await openDatabase({ url: folder.url });
  await migrate(db);
  const once = await schema(db);
  await migrate(db);
  assert.deepEqual(await schema(db), once);
});

Deno.test("several processes may migrate at once", async () => {
  using folder = temporaryFolder();
  const program = `
    const { openDatabase } = await import(${JSON.stringify(import.meta.resolve("./database.ts"))});
    const { migrate } = await import(${JSON.stringify(import.meta.resolve("./schema.ts"))});
    await Deno.stdout.write(new Uint8Array(1));
    await Deno.stdin.read(new Uint8Array(1));
    using db = await openDatabase({ url: ${JSON.stringify(folder.url)} });
    await migrate(db);`;
  const config = new URL("../deno.json", import.meta.url).pathname;
  const processes = Array.from(
    { length: 4 },
    () =>
      command([Deno.execPath(), "eval", "--config", config, program], {
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn(),
  );
  // All processes are ready before any starts.
  const outs = processes.map((process) => process.stdout.getReader());
  await Promise.all(outs.map((out) => out.read()));
  await Promise.all(processes.map(async ({ stdin }) => {
    const writer = stdin.getWriter();
    await writer.write(new Uint8Array(1));
    await writer.close();
  }));
  for (const [i, process] of processes.entries()) {
    const errors = await new Response(process.stderr).text();
    await outs[i]!.cancel();
    assert.deepEqual([(await process.status).code, errors], [0, ""]);
  }
  using db = await openDatabase({ url: folder.url });
  const { rows } = await db.query("SELECT version FROM schema");
  assert.deepEqual(rows, MIGRATIONS.map((_, i) => ({ version: BigInt(i + 1) })));
});

Deno.test("instances and windows of version 1 keep their place and their age", async () => {
  using folder = temporaryFolder();
  using db = await openDatabase({ url: folder.url });
  await migrate(db, MIGRATIONS.slice(0, 1));
  await db.write([
    "INSERT INTO projects (name, created_ns) VALUES ('old', 1)",
    `INSERT INTO instances (project, instance_id, key, tags, attributes, profiler_version, start_ns,
      watermark_ns, last_seen_ns, received_ns) VALUES (1, 'a', 'k', '{}', '{}', '1', 50, 60, 60, 70)`,
    `INSERT INTO windows (instance, level, end_ns, from_ns, to_ns, block, digest, body)
      VALUES (1, 0, 60, 50, 60, 1, x'00', x'00')`,
    "INSERT INTO write_blocks (project, token) VALUES (2, 'moved')",
  ]);
  await migrate(db);
  const { rows } = await db.query(
    `SELECT listed_ns, late_windows, min(end_ns, w.received_ns) AS age_ns
      FROM instances i JOIN windows w ON w.instance = i.id`,
  );
  assert.deepEqual(rows, [{ listed_ns: 50n, late_windows: 0n, age_ns: 60n }]);
});

Deno.test("each version lets programs of the version before go on", () => {
  for (const [before, { oldest }] of MIGRATIONS.entries()) assert.ok(oldest <= Math.max(1, before));
});

/** Tests on a new file, and on a new server. */
function testOnBoth(name: string, run: (url: string) => Promise<void>): void {
  Deno.test(`in a file, ${name}`, async () => {
    using folder = temporaryFolder();
    await run(folder.url);
  });
  testOnServer(`on a server, ${name}`, async () => {
    await using server = await startServer();
    await run(server.url);
  });
}

testOnBoth("a database of an unsupported program is refused and unchanged", async (url) => {
  using db = await openDatabase({ url });
  await db.write([
    "CREATE TABLE schema (version INTEGER PRIMARY KEY) STRICT",
    "INSERT INTO schema VALUES (1)",
    "CREATE TABLE projects (id INTEGER PRIMARY KEY) STRICT",
  ]);
  const before = await schema(db);
  await assert.rejects(openDatabases({ url }), {
    name: "SchemaError",
    message: /^Cannot use the database: .* nothing was changed in it, start with a new database$/,
  });
  assert.deepEqual(await schema(db), before);
});

testOnBoth("rows survive migrations, and older programs open what allows them", async (url) => {
  using db = await openDatabase({ url });
  await migrate(db);
  await db.write(["INSERT INTO projects (name, created_ns) VALUES ('p', 1)"]);
  await migrate(db, [...MIGRATIONS, ADDING]);
  const added = await schema(db);
  await migrate(db);
  assert.deepEqual(await schema(db), added);

  await migrate(db, LATER);
  await migrate(db, [...MIGRATIONS, ADDING]);
  const { rows } = await db.query("SELECT name FROM projects");
  assert.deepEqual(rows, [{ name: "p" }]);
  const removed = await schema(db);
  await assert.rejects(migrate(db), {
    name: "SchemaError",
    message: "Cannot use the database: its schema has version " +
      `${NEWEST + 2} and is for programs that know version ${NEWEST + 1} or newer, ` +
      `this one knows version ${NEWEST}; start a newer program`,
  });
  assert.deepEqual(await schema(db), removed);
});

testOnBoth("a write that the schema forbids stores nothing", async (url) => {
  const reasons: Error[] = [];
  await using older = await openDatabases({ url, onRefused: (reason) => reasons.push(reason) });
  const { control } = older;
  using db = await openDatabase({ url });
  await migrate(db, LATER);
  const insert = (name: string) => `INSERT INTO projects (name, created_ns) VALUES ('${name}', 1)`;
  const outcomes = await Promise.allSettled(
    ["a", "b"].map((name) => control.write([insert(name)])),
  );
  for (const { status } of outcomes) assert.equal(status, "rejected");
  assert.deepEqual((await db.query("SELECT * FROM projects")).rows, []);
  assert.deepEqual(reasons.map(({ name }) => name), ["SchemaError"]);
  await assert.rejects(control.query("SELECT 1"), SchemaError);
});

testOnBoth("a read of what was removed tells that the program is too old", async (url) => {
  await using older = await openDatabases({ url });
  using db = await openDatabase({ url });
  await assert.rejects(older.control.query("SELECT gone FROM projects"), /no such column/);
  const statements = ["ALTER TABLE projects DROP COLUMN max_series"];
  await migrate(db, [...MIGRATIONS, { oldest: NEWEST + 1, statements }]);
  await assert.rejects(older.control.query("SELECT max_series FROM projects"), SchemaError);
});

Deno.test("a project's database that does not allow the program affects that project alone", async () => {
  using folder = temporaryFolder();
  using service = await startService(folder.url);
  const { databases } = service.service;
  const upload = { instance_id: newInstanceId(), from: NOW_TS - 20, to: NOW_TS - 10 };
  const key = await newKey(service.db, "apart");
  await service.db.write(["UPDATE projects SET database_url = 'beside' WHERE name = 'apart'"]);
  const apart = { ...service, key };
  await send(apart, upload);

  const [file] = [...Deno.readDirSync(`${folder.path}/service.db.projects`)];
  using db = await openDatabase({ url: `${folder.url}.projects/${file!.name}` });
  await migrate(db, LATER);
  assert.equal((await get(apart, "/api/v1/instances")).status, 200);
  await databases.check();
  await refused(await get(apart, "/api/v1/instances"), 503);
  await refused(await post(apart, encodeUpload(makeUpload(upload))), 503);
  await send(service, upload);
  assert.equal((await service.request("/health")).status, 200);

  await db.write([`UPDATE schema SET oldest = ${NEWEST}`]);
  await databases.check();
  await send(apart, upload);
});
