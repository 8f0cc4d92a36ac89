/** Uploads: encoding loses nothing, and each fault is refused with its path. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { binIndex } from "./bins.ts";
import { Ignored } from "./ignored.ts";
import { decode, encode } from "./json.ts";
import { MAX_ERRORS, MAX_FRAMES } from "./limits.ts";
import type { Metric } from "./payload.ts";
import { signals } from "./payload_schema.ts";
import { ShapeError } from "./schema_error.ts";
import { snapshot } from "./snapshot.ts";
import { encodeUpload } from "./upload.ts";
import { uploadShape } from "./upload_schema.ts";
import { wholeSecond } from "./time.ts";
import { uploads } from "./testdata/arbitrary.ts";
import { mergeAll } from "./window.ts";

Deno.test("an encoded upload is decoded as it was, with a span of whole seconds", () => {
  fc.assert(
    fc.property(uploads, (upload) => {
      const { window } = upload;
      const to_ns = wholeSecond(window.to_ns);
      const from_ns = window.from_ns === upload.start_ns
        ? window.from_ns
        : wholeSecond(window.from_ns);
      const text = encodeUpload(upload);
      const read = uploadShape.check(decode(text));
      const ends = upload.final && to_ns !== window.to_ns ? { ended_ns: window.to_ns } : {};
      // A series that was updated at the end of its window still is.
      const series = Array.from(
        window.series,
        ([key, one]) =>
          [key, one.updated_ns === window.to_ns ? { ...one, updated_ns: to_ns } : one] as const,
      );
      const spanned = { ...window, from_ns, to_ns, series: new Map(series) };
      assert.deepEqual(read, { ...upload, ...ends, window: spanned });
      assert.equal(encodeUpload(read), text);
    }),
    { numRuns: 200 },
  );
});

const identity = { name: "m", tags: {}, updated_ns: 5n };
const histogram = {
  ...identity,
  type: "histogram",
  count: 2,
  sum: 3,
  min: null,
  max: null,
  buckets: { kind: "bins", indexes: [binIndex(1), binIndex(2)], counts: [1, 1] },
};
const { indexes, counts } = histogram.buckets;
const bounds = { kind: "bounds", bounds: [1, 2], counts: [1, 1, 0] };
const window = {
  from_ns: 1n,
  to_ns: 5n,
  series: [histogram] as unknown[],
  resources: [] as unknown[],
  errors: [] as unknown[],
};
const upload = {
  instance_id: "0123456789ab",
  profiler_version: "0.1.0",
  start_ns: 1n,
  tags: {},
  attributes: {},
  final: false,
  window,
};
const withSeries = (...series: unknown[]) => ({ ...upload, window: { ...window, series } });
const withBuckets = (buckets: unknown) => withSeries({ ...histogram, buckets });
const profile = (frames: object) =>
  withSeries({ ...identity, type: "profile", frames: { ...frame, ...frames } });
const counter = (total: unknown) => withSeries({ ...identity, type: "counter", total });
const frame = { names: ["f"], values: [1], samples: [1] };
const resource = { kind: "host", tags: {}, attributes: {}, first_seen_ts: 1, last_seen_ts: 1 };
const error = { level: "error", message: "m", exception: "", log_ns: 1n };

Deno.test("a fault that no JSON Schema can express is refused, with its path", () => {
  const cases: [body: unknown, message: string][] = [
    [
      { ...upload, window: { ...window, to_ns: 1n } },
      "window.to_ns: must be after from_ns (1)",
    ],
    [
      { ...upload, start_ns: 2n },
      "window.from_ns: must not be before start_ns (2)",
    ],
    [
      withSeries(histogram, histogram),
      "window.series[1]: has the same identity as one before it",
    ],
    [
      { ...upload, window: { ...window, resources: [resource, resource] } },
      "window.resources[1]: has the same identity as one before it",
    ],
    [
      profile({ names: ["f", "f"], values: [1, 2], samples: [1, 1] }),
      "window.series[0].frames.names: must all differ",
    ],
    [
      profile({ names: ["f", "g"] }),
      "window.series[0].frames.values: must have one for each of 2 names: got 1",
    ],
    [
      withSeries({ ...histogram, count: 3 }),
      "window.series[0].count: must be the sum of its buckets' counts, 2: got 3",
    ],
    [
      withBuckets({ kind: "bins", indexes, counts: [2] }),
      "window.series[0].buckets.counts: must have one count for each of 2 bins",
    ],
    [
      withBuckets({ kind: "bins", indexes: [1, 8184], counts }),
      "window.series[0].buckets.indexes[0]: must be the index of a bin: got 1",
    ],
    [
      withBuckets({ kind: "bins", indexes: indexes.toReversed(), counts }),
      "window.series[0].buckets.indexes[1]: must be larger than the one before it",
    ],
    [
      withBuckets({ ...bounds, counts: [1, 1] }),
      "window.series[0].buckets.counts: must have a count for each of 2 bounds and one above",
    ],
    [
      withBuckets({ ...bounds, bounds: [2, 2] }),
      "window.series[0].buckets.bounds[1]: must be larger than the one before it",
    ],
    [
      counter(-1),
      "window.series[0].total: must not be negative: got -1",
    ],
    [
      counter([-(2 ** 60), 1]),
      `window.series[0].total: must not be negative: got ${-(2 ** 60)}`,
    ],
    [
      counter([1, 2]),
      "window.series[0].total: must be a number, or the parts of an exact sum, largest first",
    ],
    [
      { ...upload, start_ns: 1.5 },
      "start_ns: must be whole epoch nanoseconds from 0 to 9223372036854775807: got 1.5",
    ],
  ];
  for (const [body, message] of cases) {
    assert.throws(() => uploadShape.check(decode(encode(body))), {
      name: "ShapeError",
      message: `Cannot accept ${message}`,
    });
  }
});

Deno.test("a value outside its type or limit is refused, with its path", () => {
  const cases: [body: unknown, path: string][] = [
    [null, ""],
    [[upload], ""],
    [{ ...upload, instance_id: "0123456789AB" }, "instance_id"],
    [{ ...upload, instance_id: "0123456789ab\n" }, "instance_id"],
    [{ ...upload, final: "yes" }, "final"],
    [{ ...upload, window: undefined }, "window"],
    [{ ...upload, start_ns: 2n ** 63n }, "start_ns"],
    [{ ...upload, start_ns: -1n }, "start_ns"],
    [{ ...upload, tags: { "host.name": 5 } }, "tags.host.name"],
    [{ ...upload, tags: { "": "v" } }, 'tags."" (a key)'],
    [{ ...upload, tags: { k: "x".repeat(10 * 2 ** 20) } }, "tags.k"],
    [
      { ...upload, tags: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [i, ""])) },
      "tags",
    ],
    [withSeries({ ...histogram, type: "summary" }), "window.series[0].type"],
    [withSeries({ ...histogram, count: -2 }), "window.series[0].count"],
    [withSeries({ ...histogram, count: 2.5 }), "window.series[0].count"],
    [withSeries({ ...histogram, sum: null }), "window.series[0].sum"],
    [withSeries({ ...histogram, sum: NaN }), "window.series[0].sum"],
    [withSeries({ ...histogram, min: 1e301 }), "window.series[0].min"],
    [withBuckets({ ...bounds, kind: "other" }), "window.series[0].buckets.kind"],
    [withBuckets({ ...bounds, counts: [3, -1, 0] }), "window.series[0].buckets.counts[1]"],
    [
      withBuckets({ kind: "bins", indexes: [2 ** 15], counts: [2] }),
      "window.series[0].buckets.indexes[0]",
    ],
    [
      profile({ names: Array.from({ length: MAX_FRAMES + 2 }, (_, i) => `f${i}`) }),
      "window.series[0].frames.names",
    ],
    [profile({ names: [""] }), "window.series[0].frames.names[0]"],
    [profile({ samples: [-1] }), "window.series[0].frames.samples[0]"],
    [counter(1e301), "window.series[0].total"],
    [counter([1e300, "x"]), "window.series[0].total[1]"],
    [
      { ...upload, window: { ...window, errors: Array(MAX_ERRORS + 1).fill(error) } },
      "window.errors",
    ],
    [
      { ...upload, window: { ...window, errors: [{ ...error, level: "info" }] } },
      "window.errors[0].level",
    ],
  ];
  for (const [body, path] of cases) {
    assert.throws(
      () => uploadShape.check(decode(encode(body))),
      (fault) => fault instanceof ShapeError && fault.path === path && fault.message.length < 300,
      path,
    );
  }
  assert.doesNotThrow(() => uploadShape.check(decode(encode(upload))));
});

Deno.test("a key __proto__ stays a key and changes nothing else", () => {
  const text = encode(profile({ names: ["__proto__"] }))
    .replace('"tags":{}', '"tags":{"__proto__":"v"}');
  const read = uploadShape.check(decode(text));
  assert.deepEqual(Object.entries(read.tags), [["__proto__", "v"]]);
  const [series] = read.window.series.values();
  assert.ok(series?.type === "profile" && series.frames.has("__proto__"));
  assert.equal(encodeUpload(read), encodeUpload(uploadShape.check(decode(encodeUpload(read)))));
  assert.equal(({} as Record<string, unknown>)["v"], undefined);
  const ignored = new Ignored();
  const open = text.replace('"start_ns"', '"__proto__":{"final":1},"start_ns"');
  assert.deepEqual(uploadShape.check(decode(open), ignored), read);
  assert.deepEqual(ignored.paths, ["__proto__"]);
});

Deno.test("members that an upload does not know are ignored and named, at every level", () => {
  const ignored = new Ignored();
  const more = {
    ...upload,
    note: "x",
    window: {
      ...window,
      series: [
        { ...histogram, exemplars: [1], buckets: { ...histogram.buckets, zero: 0 } },
        { ...histogram, name: "n", exemplars: [], 'a "b"': 1 },
      ],
      resources: [{ ...resource, parent: "p" }],
      errors: [{ ...error, code: 5 }],
      traces: [{ any: "thing" }],
    },
  };
  const plain = {
    ...upload,
    window: {
      ...window,
      series: [histogram, { ...histogram, name: "n" }],
      resources: [resource],
      errors: [error],
    },
  };
  const read = uploadShape.check(decode(encode(more)), ignored);
  assert.deepEqual(read, uploadShape.check(decode(encode(plain))));
  assert.deepEqual(ignored.paths, [
    "note",
    "window.errors[].code",
    "window.resources[].parent",
    'window.series[]."a \\"b\\""',
    "window.series[].buckets.zero",
    "window.series[].exemplars",
    "window.traces",
  ]);
});

Deno.test("a required member with a typo is missing, whatever else there is", () => {
  const { final, ...rest } = upload;
  const typo = decode(encode({ ...rest, finale: final }));
  assert.throws(() => uploadShape.check(typo, new Ignored()), { message: /final: is missing/ });
});

/** Integers of any number of digits; up to four of them add up to 1e300 at most. */
const integers = fc.nat({ max: 299 })
  .chain((digits) => fc.bigInt({ min: 0n, max: 10n ** BigInt(digits) * 2n }));

/** The one value of each kind that holds a measured amount. */
function amount(metric: Metric): bigint {
  switch (metric.type) {
    case "gauge":
      return BigInt(metric.stats.value);
    case "counter":
      return BigInt(metric.stats.total);
    case "histogram":
      return BigInt(metric.stats.sum);
    case "profile":
      return BigInt(metric.stats.frames[0]!.value);
  }
}

Deno.test("every digit of an integer is kept, from an upload through merging to a payload", () => {
  fc.assert(fc.property(fc.array(integers, { minLength: 1, maxLength: 4 }), (values) => {
    const windows = values.map((value, i) => {
      const frames = { names: ["f"], values: [-value], samples: [1] };
      const { window } = withSeries(
        { name: "g", type: "gauge", tags: {}, value: -value },
        { name: "c", type: "counter", tags: {}, total: value },
        { ...histogram, name: "h", sum: -value },
        { name: "p", type: "profile", tags: {}, frames },
      );
      const span = { from_ns: BigInt(i + 1), to_ns: BigInt(i + 2) };
      const body = encode({ ...upload, window: { ...window, ...span } });
      return uploadShape.check(decode(body)).window;
    });
    const payload = snapshot(mergeAll(windows), { context: {} });
    const { metrics } = signals.check(decode(encode(payload)));
    const found = Object.fromEntries(metrics.map((metric) => [metric.name, amount(metric)]));
    const total = values.reduce((sum, value) => sum + value, 0n);
    assert.deepEqual(found, { c: total, g: -values.at(-1)!, h: -total, p: -total });
  }));
});

Deno.test("an integer that cannot be kept is refused", () => {
  const frames = (values: unknown[]) => profile({ values });
  const cases: [body: unknown, path: string][] = [
    [counter([2n ** 60n + 1n, 1]), "window.series[0].total[0]"],
    [counter([2 ** 120, 2n ** 60n + 1n]), "window.series[0].total[1]"],
    [frames([[2n ** 60n + 1n, 1]]), "window.series[0].frames.values[0][0]"],
    [counter(10n ** 301n), "window.series[0].total"],
    [withSeries({ ...histogram, count: 2n ** 53n }), "window.series[0].count"],
    [withSeries({ ...histogram, count: 2n ** 53n + 1n }), "window.series[0].count"],
    [profile({ samples: [2n ** 53n + 1n] }), "window.series[0].frames.samples[0]"],
    [
      withBuckets({ ...bounds, counts: [2n ** 53n + 1n, 0, 0] }),
      "window.series[0].buckets.counts[0]",
    ],
    [
      withBuckets({ ...bounds, counts: [2 ** 53 - 1, 2 ** 53 - 1, 0] }),
      "window.series[0].count",
    ],
  ];
  for (const [body, path] of cases) {
    assert.throws(
      () => uploadShape.check(decode(encode(body))),
      (fault) => fault instanceof ShapeError && fault.path === path,
      path,
    );
  }
});
