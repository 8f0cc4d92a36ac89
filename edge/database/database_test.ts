/** Databases: writes are durable, whole or not at all, and wait for those of other processes. */

import assert from "node:assert/strict";
import { createClient } from "@libsql/client";
import { temporaryFolder, testOnEachStorage } from "../testing/each_storage.ts";
import { openDatabase, statement } from "./database.ts";

Deno.test("a file has a synced write-ahead log, so that acknowledged writes are durable", async () => {
  using folder = temporaryFolder();
  using db = await openDatabase({ url: folder.url });
  const [journal, synchronous] = await db.read(["PRAGMA journal_mode", "PRAGMA synchronous"]);
  assert.equal(journal!.rows[0]!.journal_mode, "wal");
  assert.equal(synchronous!.rows[0]!.synchronous, 2n);
});

Deno.test("a write waits for the write of another process, and then succeeds", async () => {
  using folder = temporaryFolder();
  using db = await openDatabase({ url: folder.url, busy_ms: 1 });
  await db.write(["CREATE TABLE numbers (number INTEGER) STRICT"]);
  const other = createClient({ url: folder.url });
  const transaction = await other.transaction("write");
  const write = db.write(["INSERT INTO numbers VALUES (1)"]);
  // Timers fire in order: the write has been tried once.
  await new Promise((resolve) => setTimeout(resolve));
  await transaction.commit();
  await write;
  await db.write(["INSERT INTO numbers VALUES (2)"]);
  const { rows } = await db.query("SELECT * FROM numbers");
  assert.deepEqual(rows.map(({ number }) => number), [1n, 2n]);
  other.close();
});

Deno.test("a write fails if the other one does not end", async () => {
  using folder = temporaryFolder();
  using db = await openDatabase({ url: folder.url, busy_ms: 1 });
  const other = createClient({ url: folder.url });
  const transaction = await other.transaction("write");
  await assert.rejects(db.write(["CREATE TABLE numbers (number INTEGER)"]), /SQLITE_BUSY/);
  transaction.close();
  other.close();
});

Deno.test("a statement gets only the arguments that it names, and a missing one is an error", () => {
  const sql = "INSERT INTO t VALUES (:from_ns, :body, :from_ns)";
  const args = { from_ns: 1n, body: null };
  assert.deepEqual(statement(sql, { ...args, other: 2 }), { sql, args });
  assert.throws(() => statement(sql, { from_ns: 1n, bodi: null }), /Cannot bind :body/);
});

testOnEachStorage({
  async "statements in one write are executed all or none"({ db }) {
    const table = `t${crypto.randomUUID().replaceAll("-", "")}`;
    await db.write([`CREATE TABLE ${table} (number INTEGER PRIMARY KEY) STRICT`]);
    const insert = `INSERT INTO ${table} VALUES (1)`;
    await assert.rejects(db.write([insert, insert]), /UNIQUE/);
    assert.deepEqual((await db.query(`SELECT * FROM ${table}`)).rows, []);
  },
});
