/** The destination of a spool is in its file before anything is sent there. */

import assert from "node:assert/strict";
import { Destination } from "./destination.ts";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";

Deno.test("a key may be used once it is in the file, whoever has asked first", async () => {
  await using directory = await temporaryDirectory();
  for (let i = 0; i < 20; i++) {
    const spool = `${directory.path}/${i}`;
    await Deno.mkdir(spool);
    const destination = Destination.of(spool, "http://127.0.0.1:8000/");
    const first = destination.mayUse("a key");
    assert(await destination.mayUse("a key"));
    const left = await Destination.left(spool);
    assert(left && destination.includes(left));
    assert(await first);
  }
});
