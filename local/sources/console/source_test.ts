/** The console as a source: errors at their own time, and the kernel's count of OOM kills. */

import assert from "node:assert/strict";
import type { ConsoleSink } from "./console.ts";
import type { ExitStatus } from "./exit.ts";
import { createConsoleSource } from "./source.ts";
import { Recorder } from "../recorder.ts";

const NOTHING = { streams: [], read: () => {}, unread_bytes: 0, status: () => null };

Deno.test("what the console says is in the window of the tick that reads it, at its own time", async () => {
  let status: ExitStatus | null = null;
  let next = (_: ConsoleSink) => {};
  const source = createConsoleSource(
    { ...NOTHING, read: (console) => next(console), status: () => status },
    { now_ns: () => 50n, oomKills: () => null },
  );
  const recorder = new Recorder(0n, () => 100n);
  const bytes = new TextEncoder().encode("ERROR: no space\nfine\n");

  next = (console) => console.write({ stream: 2, time_ns: 42n, bytes });
  await source.sample(recorder);
  const first = recorder.cut(100n);
  assert.deepEqual(first.errors, [
    { level: "error", message: "no space", exception: "", log_ns: 42n, tags: { stream: "stderr" } },
  ]);

  next = (console) => console.lost(7);
  status = { code: 3, signal: null };
  await source.sample(recorder);
  const second = recorder.cut(200n);
  assert.deepEqual(second.errors.map(({ message, log_ns }) => [message, log_ns]), [
    ["service-run: some console output was not looked at: it came faster than it was read", 50n],
    ["The command exited with status 3", 50n],
  ]);
  const [lost] = second.series.values();
  assert(lost?.type === "counter");
  assert.equal(lost.total, 7);

  await source.sample(recorder);
  assert.deepEqual(recorder.cut(300n).errors, [], "the end is said once");
  await source.settle!();
});

Deno.test("each stream says whether it is read, and why not", async () => {
  const streams = [{ stream: "stdout" as const }, { stream: "stderr" as const, reason: "gone" }];
  const source = createConsoleSource(
    { ...NOTHING, streams },
    { now_ns: () => 50n, oomKills: () => null },
  );
  const recorder = new Recorder(0n, () => 100n);
  await source.sample(recorder);
  await source.settle!();
  const states = [...recorder.cut(100n).series.values()].filter(({ name }) =>
    name === "profiler_capture_state"
  );
  const capture = "console_errors";
  assert.deepEqual(states.map((series) => [series.tags, series.type === "gauge" && series.value]), [
    [{ capture, stream: "stdout" }, 1],
    [{ capture, stream: "stderr", reason: "gone" }, 0],
  ]);
});

Deno.test("a kill is told with what the kernel counted in the meantime", async () => {
  let kills = 4;
  const status = { code: 137, signal: "SIGKILL" };
  const source = createConsoleSource(
    { ...NOTHING, status: () => status },
    { now_ns: () => 50n, oomKills: () => kills },
  );
  kills = 5;
  const recorder = new Recorder(0n, () => 100n);
  await source.settle!();
  await source.sample(recorder);
  assert.deepEqual(recorder.cut(100n).errors.map(({ message }) => message), [
    "The command was ended by SIGKILL (out of memory, it seems: " +
    "the kernel's out-of-memory killer ended a process meanwhile)",
  ]);
});

Deno.test("the console is read between the ticks, and at once again where much was written", async () => {
  const chunk = { stream: 1 as const, time_ns: 1n, bytes: new Uint8Array(1e6) };
  const read = Promise.withResolvers<void>();
  let reads = 0;
  const source = createConsoleSource({
    ...NOTHING,
    read(console) {
      console.write(chunk);
      if (++reads === 3) read.resolve();
    },
  }, { now_ns: () => 50n, oomKills: () => null });
  await read.promise;
  await source.settle!();
});

Deno.test("the end waits for files that are not read yet", async () => {
  const bytes = new TextEncoder().encode("ERROR: no space\n");
  let left = 1_000;
  const source = createConsoleSource({
    ...NOTHING,
    status: () => ({ code: 0, signal: null }),
    read(console) {
      if (left-- === 1) console.write({ stream: 1, time_ns: 1n, bytes });
    },
    get unread_bytes() {
      return Math.max(0, left);
    },
  }, { now_ns: () => 50n, oomKills: () => null });
  const recorder = new Recorder(0n, () => 100n);
  await source.sample(recorder);
  await source.settle!();
  const { errors, series } = recorder.cut(100n);
  assert.deepEqual(errors.map(({ message }) => message), ["no space"]);
  const [lost] = series.values();
  assert(lost?.type === "counter");
  assert.equal(lost.total, 0);
});
