/** The accumulator merges windows, and stays within its limits. */

import assert from "node:assert/strict";
import { emptyWindow, type Series, seriesKey, type Window } from "@service/core";
import { MAX_FRAMES, MAX_SERIES, OTHER_FRAME } from "@service/core/limits";
import { Accumulator } from "./accumulator.ts";

const SECOND_NS = 1_000_000_000n;

/** The tick that ends at `to` seconds, with a counter `n` that gained 1 under each of these tags. */
function tick(to: number, ids: Iterable<number>): Window {
  const window = emptyWindow(BigInt(to - 1) * SECOND_NS);
  window.to_ns = BigInt(to) * SECOND_NS;
  for (const id of ids) {
    const series: Series = {
      name: "n",
      type: "counter",
      tags: { id: String(id) },
      updated_ns: window.to_ns,
      total: 1,
    };
    window.series.set(seriesKey(series), series);
    const resource = { kind: "process", tags: series.tags, attributes: {} };
    window.resources.set(String(id), { ...resource, first_seen_ts: to, last_seen_ts: to });
  }
  return window;
}

function* range(from: number, to: number) {
  for (let i = from; i < to; i++) yield i;
}

function total(window: Window, name: string): number | undefined {
  for (const series of window.series.values()) {
    if (series.name === name && "total" in series) return Number(series.total);
  }
}

Deno.test("the total is the merge of all cuts", () => {
  const accumulator = new Accumulator(0n);
  for (const to of range(1, 8)) accumulator.add(tick(to, [1]));
  const first = accumulator.cut();
  for (const to of range(8, 11)) accumulator.add(tick(to, [1]));
  const second = accumulator.cut();
  assert.deepEqual([total(first, "n"), total(second, "n"), total(accumulator.total, "n")], [
    7,
    3,
    10,
  ]);
  assert.equal(first.to_ns, second.from_ns);
  assert.equal(second.to_ns, accumulator.total.to_ns);
});

Deno.test("at the limit, series in use stay, new ones are dropped and counted", () => {
  const accumulator = new Accumulator(0n);
  accumulator.add(tick(1, range(0, MAX_SERIES - 2)));
  accumulator.add(tick(2, range(0, MAX_SERIES + 3)));
  assert.equal(accumulator.total.series.size, MAX_SERIES);
  assert.equal(total(accumulator.total, "profiler_dropped_series_total"), 5);
  assert.equal(total(accumulator.total, "profiler_evicted_series_total"), 0);
  assert(accumulator.total.resources.size <= MAX_SERIES);
});

Deno.test("at the limit, series without updates are evicted, so that new ones are always measured", () => {
  const accumulator = new Accumulator(0n);
  let uploaded = 0;
  for (const to of range(1, 121)) {
    accumulator.add(tick(to, range(to * 500, to * 500 + 500)));
    if (to % 10 === 0) {
      const cut = accumulator.cut();
      uploaded += [...cut.series.values()].filter(({ name }) => name === "n").length;
      assert(cut.series.size <= MAX_SERIES);
    }
    assert(accumulator.total.series.size <= MAX_SERIES);
    assert(accumulator.total.resources.size <= MAX_SERIES);
  }
  assert.equal(total(accumulator.total, "profiler_dropped_series_total"), 0);
  assert(total(accumulator.total, "profiler_evicted_series_total")! > 0);
  assert.equal(uploaded, 120 * 500, "every series of every window was there to upload");
});

Deno.test("new frames of a full profile become one, and its own frames still count", () => {
  const accumulator = new Accumulator(0n);
  const add = (to: number, names: string[]) => {
    const window = tick(to, []);
    const frames = new Map(names.map((name) => [name, { value: 2, samples: 1 }]));
    const tags = {};
    const series: Series = { name: "p", type: "profile", tags, updated_ns: window.to_ns, frames };
    window.series.set(seriesKey(series), series);
    accumulator.add(window);
  };
  const names = Array.from({ length: MAX_FRAMES - 1 }, (_, i) => `f${i}`);
  add(1, names);
  add(2, ["f0", "last", "late"]);
  add(3, ["late", "later", "f1"]);
  for (const window of [accumulator.total, accumulator.cut()]) {
    const profile = [...window.series.values()].find(({ name }) => name === "p");
    assert(profile?.type === "profile");
    assert.equal(profile.frames.size, MAX_FRAMES + 1);
    assert.deepEqual(profile.frames.get(OTHER_FRAME), { value: 6, samples: 3 });
    assert.deepEqual(profile.frames.get("f1"), { value: 4, samples: 2 });
    assert.deepEqual(profile.frames.get("last"), { value: 2, samples: 1 });
  }
});
