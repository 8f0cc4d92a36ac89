/** Counts of the kernel are read from their files. */

import assert from "node:assert/strict";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { oomKills } from "./proc_files.ts";

Deno.test("the kernel's count is read, and null where it has none", async () => {
  await using directory = await temporaryDirectory();
  assert.equal(oomKills(directory.path), null);
  const file = `${directory.path}/vmstat`;
  await Deno.writeTextFile(file, "nr_free_pages 12\noom_kill 3\ndrop_pagecache 0\n");
  assert.equal(oomKills(directory.path), 3);
  await Deno.writeTextFile(file, "nr_free_pages 12\n");
  assert.equal(oomKills(directory.path), null);
});
