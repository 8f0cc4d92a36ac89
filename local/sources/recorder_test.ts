/** The recorder: windows without gaps, in which values recorded twice are merged. */

import assert from "node:assert/strict";
import { type FrameSum, mergeAll } from "@service/core";
import { MAX_ERROR_LENGTH } from "@service/core/limits";
import { quantity } from "@service/core/sum";
import { Recorder } from "./recorder.ts";

Deno.test("what is not a finite number is not published", () => {
  const recorder = new Recorder(0n, () => 1n);
  for (const value of [NaN, Infinity, -Infinity]) recorder.gauge("g", {}, value);
  assert.equal(recorder.cut(1n).series.size, 0);
});

Deno.test("a window starts where the one before it ended, and holds only its own", () => {
  const recorder = new Recorder(5n, () => 7n);
  recorder.gauge("a", {}, 1);
  recorder.error({ level: "error", message: "x".repeat(MAX_ERROR_LENGTH + 1), exception: "" });
  const first = recorder.cut(10n);
  const second = recorder.cut(20n);
  assert.deepEqual([first.from_ns, first.to_ns, second.from_ns, second.to_ns], [5n, 10n, 10n, 20n]);
  assert.equal(first.errors[0]!.log_ns, 7n);
  assert.equal(first.errors[0]!.message.length, MAX_ERROR_LENGTH);
  assert.equal(first.errors[0]!.message.at(-1), "…");
  assert.deepEqual(second.errors, []);
  assert.equal(first.series.size, 1);
  assert.equal(second.series.size, 0);
});

Deno.test("an entry is in the window in which it happened, or at the end of the last one", () => {
  const recorder = new Recorder(0n, () => 10n);
  const at = (log_ns: bigint) => {
    recorder.error({ level: "error", message: `at ${log_ns}`, exception: "", log_ns });
  };
  const cut = (to_ns: bigint, isLast = false) =>
    recorder.cut(to_ns, { isLast }).errors.map(({ message, log_ns }) => `${message}, ${log_ns}`);
  for (const log_ns of [25n, 10n, 11n, 3n]) at(log_ns);
  assert.deepEqual(cut(10n), ["at 3, 3", "at 10, 10"]);
  at(12n);
  assert.deepEqual(cut(20n), ["at 11, 11", "at 12, 12"]);
  for (const log_ns of [24n, 21n]) at(log_ns);
  assert.deepEqual(cut(22n, true), ["at 21, 21", "at 24, 22", "at 25, 22"]);
});

Deno.test("frozen tags give the same series as others, by name and type", () => {
  const windows = [Object.freeze({ k: "v" }), { k: "v" }].map((tags) => {
    const recorder = new Recorder(0n, () => 1n);
    for (let time = 0; time < 2; time++) {
      recorder.gauge("m", tags, 1);
      recorder.counter("m", tags, 1);
      recorder.counter("n", tags, 1);
    }
    return recorder.cut(1n);
  });
  assert.deepEqual(windows[0], windows[1]);
  assert.equal(windows[0]!.series.size, 3);
});

Deno.test("a distribution that is recorded twice in a tick gains both", () => {
  const recorder = new Recorder(0n, () => 1n);
  const gain = (count: number) => ({
    count,
    sum: count * 0.1,
    min: null,
    max: null,
    buckets: { bounds: [1], counts: [count, 0] },
  });
  for (const count of [3, 0, 4]) recorder.histogram("h", {}, gain(count));
  recorder.histogram("h", {}, { ...gain(1), sum: NaN });
  const [series] = recorder.cut(2n).series.values();
  assert(series?.type === "histogram");
  assert.equal(series.count, 7);
  assert.deepEqual(series.buckets, { bounds: [1], counts: [7, 0] });
  assert.equal(quantity(series.sum), 3 * 0.1 + 4 * 0.1);
});

Deno.test("two sources that describe a process in one tick describe it together", () => {
  const recorder = new Recorder(0n, () => 9_000_000_000n);
  const tags = { "process.pid": "7" };
  recorder.resource("process", tags, { "process.command_line": "python a.py", state: "new" }, 3);
  recorder.resource("process", tags, { "profiler.capture": "capturing", state: "known" });
  recorder.resource("process", { "process.pid": "8" }, {});
  assert.deepEqual([...recorder.cut(10n).resources.values()], [
    {
      kind: "process",
      tags,
      attributes: {
        "process.command_line": "python a.py",
        "profiler.capture": "capturing",
        state: "known",
      },
      first_seen_ts: 3,
      last_seen_ts: 9,
    },
    {
      kind: "process",
      tags: { "process.pid": "8" },
      attributes: {},
      first_seen_ts: 9,
      last_seen_ts: 9,
    },
  ]);
});

Deno.test("whatever is recorded twice in a tick merges as two windows do", () => {
  const record: ((recorder: Recorder, n: number) => void)[] = [
    (recorder, n) => recorder.gauge("g", {}, n),
    (recorder, n) => recorder.counter("c", {}, n * 0.1),
    (recorder, n) => {
      const buckets = { bins: new Map([[n, 1]]) };
      recorder.histogram("h", {}, { count: 1, sum: n, min: n, max: n, buckets });
    },
    (recorder, n) => {
      const frames = [["all", { value: n, samples: 1 }], [`f${n}`, { value: n, samples: 1 }]];
      recorder.profile("p", {}, new Map(frames as [string, FrameSum][]));
    },
    (recorder, n) => recorder.error({ level: "error", message: `${n}`, exception: "" }),
    (recorder, n) => recorder.resource("device", {}, { [`a${n}`]: "", b: `${n}` }),
  ];
  let now_ns = 0n;
  const together = new Recorder(0n, () => now_ns);
  const apart = new Recorder(0n, () => now_ns);
  const windows = [3, 5].map((n) => {
    now_ns += 2_000_000_000n;
    for (const action of record) for (const recorder of [together, apart]) action(recorder, n);
    return apart.cut(now_ns);
  });
  assert.deepEqual(together.cut(now_ns), mergeAll(windows));
});
