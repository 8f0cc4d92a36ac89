/** The write queue: waiting writes are stored together, and fail one by one. */

import assert from "node:assert/strict";
import type { InStatement, ResultSet } from "@libsql/client";
import { testOnEachStorage } from "../testing/each_storage.ts";
import { WriteQueue } from "./write_queue.ts";

Deno.test("waiting writes share one transaction, and each gets its own results", async () => {
  const batches: InStatement[][] = [];
  const queue = new WriteQueue((statements) => {
    batches.push(statements);
    return Promise.resolve([...statements] as unknown as ResultSet[]);
  });
  const results = await Promise.all([queue.write(["a", "b"]), queue.write(["c"])]);
  assert.deepEqual(results, [["a", "b"], ["c"]]);
  assert.deepEqual(batches, [["a", "b", "c"]]);
});

Deno.test("the queue continues after a failure of the database", async () => {
  let broken = true;
  const queue = new WriteQueue(() =>
    broken ? Promise.reject(new Error("gone")) : Promise.resolve([])
  );
  await Promise.all(["a", "b"].map((one) => assert.rejects(queue.write([one]), /gone/)));
  broken = false;
  assert.deepEqual(await queue.write(["c"]), []);
});

testOnEachStorage({
  async "a failing write does not undo the others of its transaction"({ db }) {
    const table = `t${crypto.randomUUID().replaceAll("-", "")}`;
    await db.write([`CREATE TABLE ${table} (number INTEGER PRIMARY KEY) STRICT`]);
    const insert = (number: number) => `INSERT INTO ${table} VALUES (${number})`;
    const outcomes = await Promise.allSettled([
      db.write([insert(1)]),
      db.write([insert(2), insert(1)]),
      db.write([insert(3)]),
    ]);
    assert.deepEqual(outcomes.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
    const { rows } = await db.query(`SELECT number FROM ${table} ORDER BY number`);
    assert.deepEqual(rows.map(({ number }) => number), [1n, 3n]);
  },
});
