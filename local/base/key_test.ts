/** The key of an endpoint is read from each of its sources. */

import assert from "node:assert/strict";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { readKey } from "./key.ts";

Deno.test("of several keys the first is taken, from each kind of source", async () => {
  await using directory = await temporaryDirectory();
  const file = `${directory.path}/keys`;
  await Deno.writeTextFile(file, "\nfirst\nsecond\n");
  assert.equal(readKey({ value: " a, b" }, {}), "a");
  assert.equal(readKey({ variable: "KEY" }, { KEY: "b,c" }), "b");
  assert.equal(readKey({ file }, {}), "first");
  assert.equal(readKey({ file: `${file}.none` }, {}), undefined);
  assert.equal(readKey({ variable: "KEY" }, {}), undefined);
});
