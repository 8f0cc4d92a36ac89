/** Payloads: the interface's example, selections of metrics and frames, the order of frames. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { binIndex } from "./bins.ts";
import { decode, encode } from "./json.ts";
import { signals } from "./payload_schema.ts";
import { type Series, seriesKey } from "./series/mod.ts";
import { snapshot } from "./snapshot.ts";
import { addSums } from "./sum.ts";
import { emptyWindow, type Resource, resourceKey, type Window } from "./window.ts";
import { windows } from "./testdata/arbitrary.ts";

const START = 1_790_000_000_000_000_000n;
const END = 1_790_000_010_000_000_001n;
const OLD = START + 1n;

const pid = { "process.pid": "4242" };
const bins = new Map([1, 2, 3, 100].map((value) => [binIndex(value), 1]));
const frame = (value: number) => ({ value, samples: 2 });

const series: Series[] = [
  {
    name: "cuda_kernels_nanoseconds",
    type: "profile",
    tags: pid,
    updated_ns: END,
    frames: new Map([
      ["copy_b", frame(500)],
      ["copy_a", frame(500)],
      ["gemm", { value: addSums(2 ** 53, 1), samples: 9_000 }],
      ["(other)", frame(0)],
    ]),
  },
  {
    name: "cuda_graphs_nanoseconds",
    type: "profile",
    tags: pid,
    updated_ns: END,
    frames: new Map(),
  },
  { name: "cuda_graph_trace_mode", type: "gauge", tags: pid, updated_ns: OLD, value: 0 },
  { name: "gpu_utilization_percent", type: "gauge", tags: {}, updated_ns: END, value: 97.5 },
  {
    name: "cuda_memcpy_bytes",
    type: "counter",
    tags: { ...pid, kind: "host-to-device" },
    updated_ns: END,
    total: addSums(2 ** 60, 1),
  },
  {
    name: "cuda_memcpy_bytes",
    type: "counter",
    tags: { ...pid, kind: "device-to-host" },
    updated_ns: END,
    total: 0,
  },
  { name: "process_cpu_seconds", type: "counter", tags: pid, updated_ns: END, total: [0.3, 2e-17] },
  {
    name: "probe_seconds",
    type: "histogram",
    tags: {},
    updated_ns: END,
    count: 4,
    sum: 106,
    min: 1,
    max: 100,
    buckets: { bins },
  },
  {
    name: "quiet_seconds",
    type: "histogram",
    tags: {},
    updated_ns: END,
    count: 0,
    sum: 0,
    min: null,
    max: null,
    buckets: { bins: new Map() },
  },
  {
    name: "request_seconds",
    type: "histogram",
    tags: {},
    updated_ns: END,
    count: 120,
    sum: 30,
    min: null,
    max: null,
    buckets: { bounds: [0.1, 0.2, 1], counts: [50, 20, 40, 10] },
  },
  {
    name: "summary_seconds",
    type: "histogram",
    tags: {},
    updated_ns: END,
    count: 3,
    sum: 1.5,
    min: null,
    max: null,
    buckets: null,
  },
];

const resources: Resource[] = [
  {
    kind: "process",
    tags: pid,
    attributes: { "process.command_line": "python train.py" },
    first_seen_ts: 1_790_000_001,
    last_seen_ts: 1_790_000_010,
  },
  {
    kind: "host",
    tags: {},
    attributes: { "platform.name": "Linux" },
    first_seen_ts: 1_790_000_000,
    last_seen_ts: 1_790_000_010,
  },
];

const window: Window = {
  from_ns: START,
  to_ns: END,
  series: new Map(series.map((one) => [seriesKey(one), one])),
  resources: new Map(resources.map((one) => [resourceKey(one), one])),
  errors: [
    { level: "warning", message: "slow", exception: "", log_ns: START + 5n },
    {
      level: "error",
      message: "ValueError: no",
      exception: 'Traceback (most recent call last):\n  File "train.py", line 1',
      log_ns: START + 6n,
      tags: pid,
    },
  ],
};

const context = { "instance.id": "0123456789ab", "host.name": "node-1" };

/** The names, in order, of the metrics that a snapshot of {@linkcode window} has. */
function names(options: Omit<Parameters<typeof snapshot>[1], "context">): string[] {
  return snapshot(window, { context, ...options }).metrics.map(({ name }) => name);
}

Deno.test("a payload is the text of the interface's example", async () => {
  const golden = await Deno.readTextFile(new URL("testdata/payload.json", import.meta.url));
  const payload = snapshot(window, { context, profiler: { version: "0.1.0" } });
  assert.equal(encode(payload), encode(decode(golden)));
  assert.equal(encode(signals.check(decode(golden))), encode(payload));
});

Deno.test("any window's payload has the shape of a payload", () => {
  fc.assert(fc.property(windows(0n, 1n), (window) => {
    signals.check(decode(encode(snapshot(window, { context }))));
  }));
});

Deno.test("a selection takes metrics by name and by prefix", () => {
  assert.deepEqual(names({ selection: { metrics: ["quiet_seconds", "nothing"] } }), [
    "quiet_seconds",
  ]);
  assert.deepEqual(names({ selection: { metrics: ["cuda_graph*", "probe_seconds"] } }), [
    "cuda_graph_trace_mode",
    "cuda_graphs_nanoseconds",
    "probe_seconds",
  ]);
  assert.deepEqual(names({ selection: { metrics: [] } }), []);
  assert.deepEqual(names({ selection: { metrics: ["*"] } }), names({}));
});

Deno.test("a selection takes the largest frames of each profile, and tells what it leaves out", () => {
  const { metrics } = snapshot(window, {
    context,
    selection: { metrics: ["cuda_kernels_*"], top: 2 },
  });
  assert.deepEqual(metrics.map(({ stats }) => stats), [{
    frames: [
      { name: "gemm", value: 2n ** 53n + 1n, samples: 9_000 },
      { name: "(not shown)", value: 500, samples: 4 },
      { name: "copy_a", value: 500, samples: 2 },
    ],
  }]);
});

Deno.test("series last updated before an instant are left out of the payload, not of the window", () => {
  assert.ok(names({ updatedSince_ns: OLD }).includes("cuda_graph_trace_mode"));
  assert.ok(!names({ updatedSince_ns: OLD + 1n }).includes("cuda_graph_trace_mode"));
  assert.equal(names({ updatedSince_ns: OLD + 1n }).length, series.length - 1);
  assert.equal(window.series.size, series.length);
});

Deno.test("start and instant are those of the window unless given", () => {
  const own = snapshot(window, { context });
  assert.deepEqual([own.start_ns, own.payload_ns], [START, END]);
  const given = snapshot(emptyWindow(5n), { context, start_ns: 1n, payload_ns: 9n });
  assert.deepEqual([given.start_ns, given.payload_ns], [1n, 9n]);
  assert.deepEqual(Object.keys(given), [
    ...["payload_ns", "start_ns", "context", "metrics", "errors", "resources"],
  ]);
  const hosted = snapshot(window, { context, platform: { version: "1" } });
  assert.deepEqual(hosted.platform, { version: "1" });
  assert.ok(!("profiler" in hosted));
});

Deno.test("frames are sorted by value, largest first, then by name", () => {
  fc.assert(fc.property(windows(0n, 1n), (window) => {
    for (const metric of snapshot(window, { context }).metrics) {
      if (metric.type !== "profile") continue;
      const { frames } = metric.stats;
      frames.slice(1).forEach((frame, i) => {
        const before = frames[i]!;
        assert.ok(
          before.value > frame.value || (before.value == frame.value && before.name < frame.name),
        );
      });
    }
  }));
});
