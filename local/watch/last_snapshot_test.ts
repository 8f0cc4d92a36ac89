/** The last snapshots are kept, and old ones removed. */

import assert from "node:assert/strict";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { saveSnapshot } from "./last_snapshot.ts";

Deno.test("the twenty newest last payloads are kept, and nothing else is removed", async () => {
  await using temporary = await temporaryDirectory();
  const directory = `${temporary.path}/service`;
  await Deno.mkdir(directory);
  await Deno.writeTextFile(`${directory}/notes.json`, "mine");
  for (let i = 0; i < 25; i++) {
    const instance_id = i.toString(16).padStart(12, "0");
    await saveSnapshot("{}", { directory, instance_id });
    await Deno.utime(`${directory}/${instance_id}.json`, i, i);
  }
  const names = (await Array.fromAsync(Deno.readDir(directory), ({ name }) => name)).sort();
  assert.equal(names.length, 21);
  assert.equal(names[0], "000000000005.json");
  assert.equal(names.at(-1), "notes.json");
});

Deno.test("a file that the user named is the only one written", async () => {
  await using temporary = await temporaryDirectory();
  const file = `${temporary.path}/last.json`;
  await saveSnapshot("{}", { directory: `${temporary.path}/none`, instance_id: "0", file });
  assert.deepEqual(await Array.fromAsync(Deno.readDir(temporary.path), ({ name }) => name), [
    "last.json",
  ]);
});
