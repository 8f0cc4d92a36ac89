/** Regular files of the workload: read whole, in pieces, also where they are emptied meanwhile. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { temporaryDirectory } from "../../../tests/temporary_directory.ts";
import { PIECE_BYTES, WrittenFile } from "./written_file.ts";

const encoder = new TextEncoder();

/** A file with a writer, and what a reader of it has passed on. */
async function writtenFile({ before = "", append = false } = {}) {
  const directory = await temporaryDirectory();
  const path = `${directory.path}/log`;
  Deno.writeTextFileSync(path, before);
  const writer = Deno.openSync(path, { write: true, append });
  const from = append ? before.length : 0;
  const file = Deno.openSync(path);
  const reader = new WrittenFile(file, { stream: 1, from });
  const decoder = new TextDecoder();
  const passed = { text: "", lost: 0, warnings: [] as string[] };
  return {
    passed,
    path,
    reader,
    write: (text: string) => writer.writeSync(encoder.encode(text)),
    read: () =>
      reader.read({
        write: ({ bytes }) => void (passed.text += decoder.decode(bytes)),
        lost: (bytes) => void (passed.lost += bytes),
        warn: (message) => passed.warnings.push(message),
      }, 1n),
    async [Symbol.asyncDispose]() {
      writer.close();
      file.close();
      await directory[Symbol.asyncDispose]();
    },
  };
}

Deno.test("all that is appended is passed on in order, however it is written and read", async () => {
  const step = fc.oneof(fc.string({ maxLength: 40 }), fc.constant(null));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await using log = await writtenFile({ before: "earlier\n", append: true });
      for (const text of steps) {
        if (text === null) log.read();
        else log.write(text);
      }
      log.read();
      assert.equal(log.passed.text, steps.join(""));
      assert.deepEqual([log.passed.lost, log.passed.warnings], [0, []]);
    }),
    { numRuns: 20 },
  );
});

Deno.test("a reading takes one piece, and says how much is left", async () => {
  await using log = await writtenFile();
  log.write("x".repeat(2 * PIECE_BYTES + 5));
  const left = Array.from({ length: 3 }, () => (log.read(), log.reader.unread_bytes));
  assert.deepEqual(left, [PIECE_BYTES + 5, 5, 0]);
  assert.equal(log.passed.text.length, 2 * PIECE_BYTES + 5);
});

Deno.test("text that the workload writes over is no other file", async () => {
  await using log = await writtenFile({ before: "old and longer\n" });
  log.write("new\n");
  log.read();
  assert.deepEqual([log.passed.text.slice(0, 4), log.passed.warnings], ["new\n", []]);
});

for (const append of [false, true]) {
  const writer = append ? "appends" : "keeps its offset";
  Deno.test(`an emptied file is read from its beginning if the workload ${writer}`, async () => {
    await using log = await writtenFile({ append });
    log.write("one\ntwo");
    log.read();
    log.write("never read\n");
    log.read();
    Deno.truncateSync(log.path);
    log.read();
    log.write("three\n");
    log.read();
    assert.equal(log.passed.text, "one\ntwonever read\n\nthree\n");
    assert.deepEqual(log.passed.warnings.length, 1);
    assert.match(log.passed.warnings[0]!, /the file of stdout was emptied/);
  });
}

Deno.test("a file that was emptied is told by its beginning, though it is as long again", async () => {
  await using log = await writtenFile({ append: true });
  log.write("one\n");
  log.read();
  Deno.truncateSync(log.path);
  log.write("two, and more\n");
  log.read();
  assert.equal(log.passed.text, "one\n\ntwo, and more\n");
  assert.equal(log.passed.warnings.length, 1);
});

Deno.test("what was written and not read before a file was emptied is lost, and counted", async () => {
  await using log = await writtenFile({ append: true });
  log.write("x".repeat(PIECE_BYTES + 7));
  log.read();
  Deno.truncateSync(log.path);
  log.read();
  assert.equal(log.passed.lost, 7);
});
