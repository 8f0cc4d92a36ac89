/** The key in a file is read as it is, and what is wrong with it is said. */

import assert from "node:assert/strict";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { keyInFile } from "./key.ts";

Deno.test("the key is the first line that is not empty, as it is now", async () => {
  await using directory = await temporaryDirectory();
  const file = `${directory.path}/key`;
  const read = keyInFile(file);
  for (const [text, key] of [["a\n", "a"], ["\r\n b \r\nc", "b"], ["svc_0_1", "svc_0_1"]]) {
    await Deno.writeTextFile(file, text!);
    assert.equal(await read(), key);
  }
});

Deno.test("a file without a key is an error that names the file, and never its content", async () => {
  await using directory = await temporaryDirectory();
  const file = `${directory.path}/key`;
  const read = keyInFile(file);
  await assert.rejects(read, /^Error: Cannot read the key: .*\/key/);
  for (const [text, message] of [[" \n\n", "is empty"], ["my secret", "must be one word"]]) {
    await Deno.writeTextFile(file, text!);
    await assert.rejects(read, (error: Error) => {
      assert.match(error.message, new RegExp(message!));
      assert(error.message.includes(file));
      assert(!error.message.includes("secret"));
      return true;
    });
  }
  await assert.rejects(keyInFile(directory.path), /Cannot read the key/);
});
