/** The loop serves, uploads and ends a run. */

import assert from "node:assert/strict";
import { decode, seriesKey, type Signals, signals } from "@service/core";
import { type PackedWindow, readWindow } from "@service/core/packed";
import { createClock } from "../base/clock.ts";
import { startWatcher, type WatcherOptions } from "./loop.ts";

/** A watcher of one counter without a socket, with its payloads, warnings and uploads. */
function watched(options: Partial<WatcherOptions> = {}) {
  const messages: string[] = [];
  const now_ns = createClock();
  let handle = (_: Request): Promise<Response> => assert.fail("nothing is served");
  let closed = false;
  const watcher = startWatcher({
    start_ns: now_ns(),
    now_ns,
    version: "1.2.3",
    context: { "instance.id": "0123456789ab" },
    attributes: { "process.command_line": "true" },
    sources: [{ sample: (recorder) => recorder.counter("samples_total", {}, 1) }],
    listener: {
      host: "127.0.0.1",
      url: "http://127.0.0.1:0",
      notice: null,
      serve: (handler) => handle = handler,
      close: () => Promise.resolve(void (closed = true)),
    },
    log: (message) => messages.push(message),
    ...options,
  });
  return {
    watcher,
    messages,
    get: (path: string) => handle(new Request(`http://127.0.0.1${path}`)),
    isClosed: () => closed,
  };
}

function covered({ metrics }: Signals): number {
  const { stats } = metrics.find(({ name }) => name === "profiler_covered_nanoseconds")!;
  return "total" in stats ? Number(stats.total) : NaN;
}

Deno.test("the first sample is served before the first tick, the last one ends the snapshot", async () => {
  const { watcher, get, isClosed } = watched();
  const first = signals.check(decode(await (await get("/signals")).text()));
  assert(first.metrics.some(({ name }) => name === "samples_total"));
  const last = signals.check(decode(await watcher.finish()));
  assert(last.payload_ns > first.payload_ns);
  assert(isClosed());
});

Deno.test("the last snapshot ends where the run did, also if it is written much later", async () => {
  const now_ns = createClock();
  const start_ns = now_ns() - 10_000_000_000n;
  for (const ended_ns of [start_ns + 1_350_000_000n, start_ns + 9_999_999_999n]) {
    const { watcher } = watched({ start_ns });
    const last = signals.check(decode(await watcher.finish(ended_ns)));
    assert.deepEqual([last.start_ns, last.payload_ns], [start_ns, ended_ns]);
    assert.equal(covered(last), Number(ended_ns - start_ns));
    for (const { name, updated_ns } of last.metrics) assert(updated_ns <= ended_ns, name);
  }
});

Deno.test("a last snapshot after a tick that was late ends behind that tick", async () => {
  const { watcher, get } = watched();
  const first = signals.check(decode(await (await get("/signals")).text()));
  const last = signals.check(decode(await watcher.finish(first.start_ns)));
  assert.equal(last.payload_ns, first.payload_ns + 1n);
});

Deno.test("the end uploads a last window that says so, and waits for it", async () => {
  const uploads: PackedWindow[] = [];
  let finished = false;
  const { watcher } = watched({
    upload: () => ({
      sample() {},
      add: (upload) => Promise.resolve(void uploads.push(upload)),
      finish: () => Promise.resolve(void (finished = true)),
    }),
  });
  const ended_ns = createClock()();
  await watcher.finish(ended_ns);
  assert(finished);
  const { frame, block } = uploads.at(-1)!;
  const { window, final, members } = readWindow(frame, block);
  assert.equal(final, true);
  assert.deepEqual(members, { ended_ns });
  assert.equal(window.to_ns % 1_000_000_000n, 0n);
  const covered = window.series.get(
    seriesKey({ name: "profiler_covered_nanoseconds", type: "counter", tags: {} }),
  );
  assert(covered?.type === "counter");
  assert.equal(window.from_ns + BigInt(covered.total as number), ended_ns);
  const { instance_id, profiler_version, attributes } = block.instance;
  assert.deepEqual([instance_id, profiler_version], ["0123456789ab", "1.2.3"]);
  assert.deepEqual(attributes, { "process.command_line": "true" });
  assert([...window.series.values()].some(({ name }) => name === "samples_total"));
});

Deno.test("an upload that cannot start is logged and recorded as an error, and the run continues", async () => {
  const { watcher, messages } = watched({
    upload() {
      throw new Error("no disk");
    },
  });
  const { errors } = signals.check(decode(await watcher.finish()));
  assert.deepEqual(messages, ["cannot upload: no disk"]);
  assert.deepEqual(errors.map(({ message }) => message), ["service-run: cannot upload: no disk"]);
});
