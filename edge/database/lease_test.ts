/** Leases of a database: each counts its own rows, and ends alone. */

import assert from "node:assert/strict";
import { testOnFile } from "../testing/each_storage.ts";
import { Lease } from "./lease.ts";

testOnFile("leases of one database count their rows apart, and end one by one", async ({ db }) => {
  let released = 0;
  const first = new Lease(db, () => released++);
  const second = new Lease(db, () => released++);
  await first.query("VALUES (1), (2)");
  await first.read(["VALUES (1)", "SELECT 1 WHERE FALSE", "VALUES (1)"]);
  await second.write(["VALUES (1)"]);
  assert.deepEqual([first.rows, second.rows], [4, 1]);
  first[Symbol.dispose]();
  assert.equal(released, 1);
});
