/** Merging of windows: associative, with an identity, and independent of how a span is cut. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { binIndex, type Bins, count } from "./bins.ts";
import { absorbEntries, type ErrorEntry } from "./entries.ts";
import { type FrameSum, type HistogramSeries, type Series, seriesKey } from "./series/mod.ts";
import { addSums, type Sum } from "./sum.ts";
import type { Tags } from "./tags.ts";
import { encodeUpload } from "./upload.ts";
import {
  absorb,
  absorbOwned,
  emptyWindow,
  merge,
  mergeAll,
  type Resource,
  resourceKey,
  type Window,
} from "./window.ts";
import { doubles, errors, resources, windows } from "./testdata/arbitrary.ts";

function textOf(window: Window): string {
  const instance = {
    instance_id: "",
    profiler_version: "",
    start_ns: 0n,
    tags: {},
    attributes: {},
  };
  return encodeUpload({ ...instance, final: false, window });
}

Deno.test("merging is associative", () => {
  fc.assert(fc.property(windows(0n, 1n), windows(1n, 2n), windows(2n, 3n), (a, b, c) => {
    const left = merge(merge(a, b), c);
    assert.deepEqual(left, merge(a, merge(b, c)));
    assert.deepEqual(left, mergeAll([a, b, c]));
    assert.equal(textOf(left), textOf(merge(a, merge(b, c))));
  }));
});

Deno.test("merging has an identity on both sides", () => {
  fc.assert(fc.property(windows(1n, 2n), (window) => {
    assert.deepEqual(merge(emptyWindow(1n), window), window);
    assert.deepEqual(merge(window, emptyWindow(2n)), window);
    assert.deepEqual(mergeAll([window]), window);
  }));
});

Deno.test("merging changes neither window, and a later change of the result does not either", () => {
  fc.assert(fc.property(windows(0n, 1n), windows(1n, 2n), (a, b) => {
    const before = structuredClone([a, b]);
    const merged = merge(a, b);
    absorb(merged, b);
    absorb(merged, a);
    for (const resource of merged.resources.values()) resource.last_seen_ts++;
    assert.deepEqual([a, b], before);
  }));
});

Deno.test("windows that are given up merge to the same window", () => {
  fc.assert(fc.property(windows(0n, 1n), windows(1n, 2n), windows(2n, 3n), (a, b, c) => {
    const merged = mergeAll([a, b, c]);
    const owned = emptyWindow(0n);
    for (const window of [a, b, c]) absorbOwned(owned, window);
    assert.deepEqual(owned, merged);
  }));
});

Deno.test("windows merge only if the next starts at the end of the one before", () => {
  const at = (from_ns: bigint, to_ns: bigint): Window => ({ ...emptyWindow(from_ns), to_ns });
  assert.throws(() => merge(at(0n, 1n), at(2n, 3n)), {
    name: "RangeError",
    message: "Cannot merge windows: one ends at 1, the next starts at 2",
  });
  assert.throws(() => merge(at(0n, 2n), at(1n, 3n)), RangeError);
  assert.throws(() => mergeAll([]), RangeError);
});

/** What a source sees at one instant. */
interface Observation {
  at: bigint;
  seen:
    | { type: "gauge" | "counter" | "bins" | "bounds" | "summary"; value: number; pid: string }
    | { type: "profile"; value: number; frame: string }
    | { type: "error"; entry: ErrorEntry }
    | { type: "resource"; resource: Resource };
}

const LAST = 1000n;
const instants = fc.bigInt(1n, LAST);
const observations: fc.Arbitrary<Observation[]> = fc.array(
  fc.record<Observation>({
    at: instants,
    seen: fc.oneof(
      { depthSize: "small" },
      fc.record({
        type: fc.constantFrom("gauge", "counter", "bins", "bounds", "summary"),
        value: doubles.map((value) => Math.abs(value)),
        pid: fc.constantFrom("7", "8"),
      }),
      fc.record({
        type: fc.constant("profile" as const),
        value: doubles,
        frame: fc.constantFrom("f", "g", "__proto__"),
      }),
      fc.record({ type: fc.constant("error" as const), entry: errors }),
      fc.record({
        type: fc.constant("resource" as const),
        resource: resources.map((one) => ({ ...one, attributes: { "device.name": "H200" } })),
      }),
    ),
  }),
  { maxLength: 60 },
).map((all) => all.sort((a, b) => Number(a.at - b.at)));

const BOUNDS = [0.5, 10, 1e100];

/** Expected window of `(from_ns, to_ns]`, computed by grouping its measurements. */
function windowOf(all: readonly Observation[], from_ns: bigint, to_ns: bigint): Window {
  const window: Window = { ...emptyWindow(from_ns), to_ns };
  const inside = all.filter(({ at }) => from_ns < at && at <= to_ns);
  const groups = Map.groupBy(
    inside,
    ({ seen }) => "pid" in seen ? seen.type + seen.pid : seen.type,
  );
  for (const group of groups.values()) {
    const { seen } = group[0]!;
    const updated_ns = group.at(-1)!.at;
    const tags: Tags = "pid" in seen ? { "process.pid": seen.pid } : {};
    const values = group.map(({ seen }) => "value" in seen ? seen.value : 0);
    const total = values.reduce<Sum>(addSums, 0);
    const histogram: HistogramSeries = {
      name: seen.type,
      type: "histogram",
      tags,
      updated_ns,
      count: values.length,
      sum: total,
      min: null,
      max: null,
      buckets: null,
    };
    const add = (series: Series) => window.series.set(seriesKey(series), series);
    switch (seen.type) {
      case "gauge":
        add({ name: "gauge", type: "gauge", tags, updated_ns, value: values.at(-1)! });
        break;
      case "counter":
        add({ name: "counter", type: "counter", tags, updated_ns, total });
        break;
      case "bins": {
        const bins: Bins = new Map();
        for (const value of values) count(bins, binIndex(value));
        const [min, max] = [Math.min(...values), Math.max(...values)];
        add({ ...histogram, min, max, buckets: { bins } });
        break;
      }
      case "bounds": {
        const bucket = (value: number) => {
          const at = BOUNDS.findIndex((bound) => value <= bound);
          return at < 0 ? BOUNDS.length : at;
        };
        const counts = [...BOUNDS, Infinity].map((_, i) =>
          values.filter((value) => bucket(value) === i).length
        );
        add({ ...histogram, buckets: { bounds: BOUNDS, counts } });
        break;
      }
      case "summary":
        add(histogram);
        break;
      case "profile": {
        const frames = new Map<string, FrameSum>();
        for (const { seen } of group) {
          if (seen.type !== "profile") continue;
          const { value, samples } = frames.get(seen.frame) ?? { value: 0, samples: 0 };
          frames.set(seen.frame, { value: addSums(value, seen.value), samples: samples + 1 });
        }
        add({ name: "profile", type: "profile", tags, updated_ns, frames });
        break;
      }
      case "error":
        absorbEntries(window, {
          errors: group.flatMap(({ seen }) => seen.type === "error" ? [seen.entry] : []),
        });
        break;
      case "resource":
        for (const { seen } of group) {
          if (seen.type !== "resource") continue;
          const { resource } = seen;
          const known = window.resources.get(resourceKey(resource)) ?? resource;
          window.resources.set(resourceKey(resource), {
            ...resource,
            first_seen_ts: Math.min(known.first_seen_ts, resource.first_seen_ts),
            last_seen_ts: Math.max(known.last_seen_ts, resource.last_seen_ts),
          });
        }
    }
  }
  return window;
}

Deno.test("any tiling of a span merges to the window of the whole span", () => {
  fc.assert(fc.property(observations, fc.uniqueArray(instants), (all, cuts) => {
    const edges = [0n, ...cuts.filter((cut) => cut < LAST).sort((a, b) => Number(a - b)), LAST];
    const tiles = edges.slice(1).map((to_ns, i) => windowOf(all, edges[i]!, to_ns));
    assert.deepEqual(mergeAll(tiles), windowOf(all, 0n, LAST));
  }));
});
