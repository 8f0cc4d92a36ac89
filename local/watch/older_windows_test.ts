/** Older windows are read from the run file, or are missing while the disk does not answer. */

import assert from "node:assert/strict";
import { emptyWindow, type InstanceWindow } from "@service/core";
import type { RunsReader } from "../runs/reader.ts";
import { olderWindows } from "./older_windows.ts";

const SPAN = { from_ns: 10n, to_ns: 20n };
const FOUND = { window: { ...emptyWindow(10n), to_ns: 20n }, payload_ns: 20n, gaps: [] };

function olderThan(reader: Pick<RunsReader, "windows">, patience_ms?: number) {
  const steps = () => assert.fail("no steps are read");
  const instance_id = "0123456789ab";
  return olderWindows({ reader: { ...reader, steps }, instance_id, patience_ms });
}

Deno.test("what the file has is read; an error, or no file, is nothing", async () => {
  const reads = [[FOUND as unknown as InstanceWindow], [], undefined];
  const source = olderThan({
    async *windows() {
      const read = reads.shift();
      if (!read) throw new Error("Input/output error");
      yield* read;
    },
  });
  assert.deepEqual(await source.read(SPAN), FOUND);
  for (let i = 0; i < 2; i++) {
    const { window, payload_ns } = await source.read(SPAN);
    assert.deepEqual([window.series.size, payload_ns], [0, SPAN.from_ns]);
  }
});

Deno.test("an answer does not wait for a disk that hangs, and the next ones do not ask it", async () => {
  const disk = Promise.withResolvers<void>();
  let asked = 0;
  const source = olderThan({
    async *windows() {
      asked++;
      await disk.promise;
      yield FOUND as unknown as InstanceWindow;
    },
  }, 5);
  assert.equal((await source.read(SPAN)).payload_ns, SPAN.from_ns);
  assert.equal((await source.read(SPAN)).payload_ns, SPAN.from_ns);
  assert.equal(asked, 1);
  disk.resolve();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual(await source.read(SPAN), FOUND);
  assert.equal(asked, 2);
});
