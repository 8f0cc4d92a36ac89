/** Segment directories: private, held during the run, and removed after it. */

import assert from "node:assert/strict";
import { temporaryDirectory } from "../../../tests/temporary_directory.ts";
import { holdDirectories } from "./directories.ts";

const LONG_AGO = new Date(0);

function names(path: string): string[] {
  return Array.from(Deno.readDirSync(path), ({ name }) => name).sort();
}

Deno.test("directories are private, and gone with the run", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/segments/0123456789ab`;
  {
    using held = holdDirectories([path]);
    assert.deepEqual(held.paths, [path]);
    assert.equal(Deno.statSync(path).mode! & 0o777, 0o700);
  }
  assert.deepEqual(names(directory.path), []);
});

Deno.test("what ended runs left is removed, what a living one holds is not", async () => {
  await using directory = await temporaryDirectory();
  const root = `${directory.path}/segments`;
  const make = (name: string, files: string[]) => {
    Deno.mkdirSync(`${root}/${name}`, { recursive: true, mode: 0o700 });
    for (const file of files) Deno.writeTextFileSync(`${root}/${name}/${file}`, "");
    if (name !== "111111111111") Deno.utimeSync(`${root}/${name}`, LONG_AGO, LONG_AGO);
  };
  make("000000000000", ["watcher", "12-34"]);
  make("111111111111", []);
  make("222222222222", ["watcher", "12-34"]);
  make("333333333333", ["watcher", "12-34"]);
  make("not-ours", ["12-34"]);
  using watcher = Deno.openSync(`${root}/222222222222/watcher`);
  using process = Deno.openSync(`${root}/333333333333/12-34`);
  watcher.lockSync(true);
  process.lockSync(true);
  using held = holdDirectories([`${root}/444444444444`]);
  assert.equal(held.faults.length, 0);
  assert.deepEqual(names(root), [
    "111111111111",
    "222222222222",
    "333333333333",
    "444444444444",
    "not-ours",
  ]);
});

Deno.test("a directory that others can write to is not used", async () => {
  await using directory = await temporaryDirectory();
  Deno.mkdirSync(`${directory.path}/segments`);
  Deno.chmodSync(`${directory.path}/segments`, 0o777);
  using held = holdDirectories([`${directory.path}/segments/0123456789ab`]);
  assert.deepEqual(held.paths, []);
  assert.match(held.faults[0]!, /must be a directory that only this user can change/);
});

Deno.test("a directory that the workload cannot be told of is not used", async () => {
  await using directory = await temporaryDirectory();
  using held = holdDirectories([`${directory.path}/a:b/0123456789ab`]);
  assert.deepEqual(held.paths, []);
  assert.match(held.faults[0]!, /must have no ":"/);
});
