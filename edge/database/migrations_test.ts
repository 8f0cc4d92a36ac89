/** Migrations: repeatable, safe in several processes at once, and refused by older programs. */

import assert from "node:assert/strict";
import { startServer, temporaryFolder, testOnServer } from "../testing/each_storage.ts";
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

const NEXT = [...MIGRATIONS, ["ALTER TABLE projects ADD COLUMN color TEXT DEFAULT 'red'"]];

async function upgrade(url: string): Promise<void> {
  using db = await openDatabase({ url });
  await migrate(db);
  await db.write(["INSERT INTO projects (name, created_ns) VALUES ('p', 1)"]);
  await migrate(db, NEXT);
  const { rows } = await db.query("SELECT name, color FROM projects");
  assert.deepEqual(rows, [{ name: "p", color: "red" }]);
  await assert.rejects(migrate(db), /Cannot use the database: .*schema up to 1: got 2/);
}

Deno.test("in a file, rows survive a migration, and an older program refuses the newer schema", async () => {
  using folder = temporaryFolder();
  await upgrade(folder.url);
});

testOnServer(
  "on a server, rows survive a migration, and an older program refuses the newer schema",
  async () => {
    await using server = await startServer();
    await upgrade(server.url);
  },
);
