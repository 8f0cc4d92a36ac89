/** Files are written whole, old ones removed, and directories checked. */

import assert from "node:assert/strict";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { makePrivateDirectory, removeOldest, writeWhole } from "./files.ts";

async function names(path: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(path), ({ name }) => name)).sort();
}

Deno.test("a file is replaced as a whole, only its user can read it, and no other file is left", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a`;
  await writeWhole(path, "first and longer");
  await writeWhole(path, new Uint8Array([104, 105]));
  assert.equal(await Deno.readTextFile(path), "hi");
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
  assert.deepEqual(await names(directory.path), ["a"]);
});

Deno.test("several writers at once leave one complete file", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a`;
  const texts = Array.from({ length: 16 }, (_, i) => String(i).repeat(10_000));
  await Promise.all(texts.map((text) => writeWhole(path, text)));
  assert(texts.includes(await Deno.readTextFile(path)));
  assert.deepEqual(await names(directory.path), ["a"]);
});

Deno.test("a file that cannot be written leaves no other file, and the old content stays", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a`;
  await Deno.mkdir(`${path}/b`, { recursive: true });
  await assert.rejects(writeWhole(path, "text"));
  assert.deepEqual(await names(directory.path), ["a"]);
});

Deno.test("the oldest files are removed if there are too many, or too many bytes", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  for (const [i, name] of ["c.log", "b.log", "a.log", "notes"].entries()) {
    await Deno.writeTextFile(`${path}/${name}`, "12345");
    await Deno.utime(`${path}/${name}`, i, i);
  }
  await removeOldest(path, { files: 2, names: /\.log$/ });
  assert.deepEqual(await names(path), ["a.log", "b.log", "notes"]);
  await removeOldest(path, { bytes: 10 });
  assert.deepEqual(await names(path), ["a.log", "notes"]);
});

Deno.test("a directory that others can change is refused, and so is a link to one", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/deep/private`;
  makePrivateDirectory(path);
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o700);
  await Deno.symlink(path, `${directory.path}/link`);
  assert.throws(() => makePrivateDirectory(`${directory.path}/link`), /Cannot use .*link: must be/);
  await Deno.chmod(path, 0o720);
  assert.throws(() => makePrivateDirectory(path), TypeError);
});
