/** The native part is unpacked once, and only where no other user can change it. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { type NativeFiles, unpack } from "./package.ts";
import { testUnless } from "../../tests/skipping.ts";

const FILES: NativeFiles = { tool: packed("a tool"), "library.so": packed("a library") };

function packed(content: string) {
  return {
    sha256: createHash("sha256").update(content).digest("hex"),
    gzip: gzipSync(content).toString("base64"),
  };
}

Deno.test("only the user can read and change the unpacked files", async () => {
  await using directory = await temporaryDirectory();
  const folder = await unpack(FILES, `${directory.path}/deep/place`);
  assert.equal(await Deno.readTextFile(`${folder}/tool`), "a tool");
  assert.equal(await Deno.readTextFile(`${folder}/library.so`), "a library");
  for (const path of [folder, `${folder}/tool`]) {
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o700);
  }
});

Deno.test("intact files stay, changed ones are replaced, and no others are left", async () => {
  await using directory = await temporaryDirectory();
  const folder = await unpack(FILES, directory.path);
  const { ino } = await Deno.stat(`${folder}/tool`);
  await Deno.writeTextFile(`${folder}/library.so`, "a forgery");
  assert.equal(await unpack(FILES, directory.path), folder);
  assert.equal((await Deno.stat(`${folder}/tool`)).ino, ino);
  assert.equal(await Deno.readTextFile(`${folder}/library.so`), "a library");
  const names = Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
  assert.deepEqual(names, ["library.so", "tool"]);
});

Deno.test("other files have another folder", async () => {
  await using directory = await temporaryDirectory();
  const first = await unpack(FILES, directory.path);
  assert.notEqual(await unpack({ ...FILES, tool: packed("newer") }, directory.path), first);
  assert.equal(await Deno.readTextFile(`${first}/tool`), "a tool");
});

Deno.test("several processes at once unpack the same", async () => {
  await using directory = await temporaryDirectory();
  const runs = Array.from({ length: 8 }, () => unpack(FILES, directory.path));
  assert.equal(new Set(await Promise.all(runs)).size, 1);
});

Deno.test("a folder that others can change is refused, and so is a link", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  const refused = /only this user can change/;
  await Deno.chmod(path, 0o777);
  await assert.rejects(unpack(FILES, path), refused);
  await Deno.chmod(path, 0o700);
  const folder = await unpack(FILES, path);
  await Deno.chmod(folder, 0o720);
  await assert.rejects(unpack(FILES, path), refused);
  await Deno.symlink(folder, `${path}/link`);
  await assert.rejects(unpack(FILES, `${path}/link`), refused);
});

testUnless(Deno.uid() === 0 ? null : "only root can give a folder away")(
  "a folder of another user is refused",
  async () => {
    await using directory = await temporaryDirectory();
    await Deno.chown(directory.path, 1, 1);
    await assert.rejects(unpack(FILES, directory.path), /only this user can change/);
  },
);

Deno.test("content with another digest than its own is never used", async () => {
  await using directory = await temporaryDirectory();
  const forged = { tool: { ...packed("a tool"), gzip: packed("another").gzip } };
  await assert.rejects(unpack(forged, directory.path), /is not what was written/);
});
