import assert from "node:assert/strict";
import { hasServer, startServer, temporaryFolder } from "../testing/each_storage.ts";
import { type Database, openDatabase } from "./database.ts";
import { migrate, MIGRATIONS } from "./migrations.ts";
import { command } from "../../tests/command.ts";

async function schema(db: Database): Promise<unknown> {
  const results = await db.read([
    "SELECT sql FROM sqlite_schema ORDER BY name",
    "SELECT version FROM schema",
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
    const { migrate } = await import(${JSON.stringify(import.meta.resolve("./migrations.ts"))});
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
  // All are at the line before any may start.
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

async function migrateOld(url: string): Promise<void> {
  using db = await openDatabase({ url });
  await db.write([
    "CREATE TABLE schema (version INTEGER PRIMARY KEY) STRICT",
    "INSERT INTO schema VALUES (1)",
    ...MIGRATIONS[0]!,
    "INSERT INTO projects VALUES (1, 'p', 1)",
    "INSERT INTO keys VALUES (5, 1, 'laptop', 'svc_1', x'00', 1, NULL)",
    `INSERT INTO instances VALUES (3, 1, '0123456789ab', 5, '{}', '{}', '0', 1, 2, NULL, 2, 2)`,
    "INSERT INTO windows VALUES (7, 3, 1, 2, x'00', x'01', NULL, 0)",
  ]);
  await migrate(db);
  const [keys, instances, broken] = await db.read([
    "SELECT scope, expires_ns, last_used_ns FROM keys",
    "SELECT id, project, key, watermark_ns FROM instances",
    "PRAGMA foreign_key_check",
  ]);
  assert.deepEqual(keys!.rows, [{ scope: "read,write", expires_ns: null, last_used_ns: null }]);
  assert.deepEqual(instances!.rows, [{ id: 3n, project: 1n, key: "laptop", watermark_ns: 2n }]);
  assert.deepEqual(broken!.rows, []);
}

Deno.test("rows of the first version are there after the newest, in a file", async () => {
  using folder = temporaryFolder();
  await migrateOld(folder.url);
});

Deno.test("rows of the first version are there after the newest, on a server", {
  ignore: !hasServer,
}, async () => {
  await using server = await startServer();
  await migrateOld(server.url);
});
