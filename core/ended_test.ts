/** Levels of processes that have ended are told apart from those of the others, and from states. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { type Series, seriesKey } from "./series/mod.ts";
import { snapshot } from "./snapshot.ts";
import { nsFromTs } from "./time.ts";
import { emptyWindow, mergeAll, type Resource, resourceKey, type Window } from "./window.ts";

const START_TS = 1_790_000_000;

function gauge(name: string, pid: string, at_ts: number): Series {
  return { name, type: "gauge", tags: tagsOf(pid), updated_ns: nsFromTs(at_ts), value: 1 };
}

function tagsOf(pid: string) {
  return { "process.pid": pid };
}

/** The second of a run in which these processes were sampled. */
function second(at: number, pids: readonly string[]): Window {
  const at_ts = START_TS + at;
  const series: Series[] = pids.flatMap((pid) => [
    gauge("process_cpu_usage_percent", pid, at_ts),
    gauge("engine_requests_running", pid, at_ts),
    gauge("cuda_graph_trace_mode", pid, at_ts),
    {
      name: "process_user_cpu_seconds",
      type: "counter",
      tags: tagsOf(pid),
      updated_ns: nsFromTs(at_ts),
      total: 1,
    },
  ]);
  const resources = pids.map((pid): Resource => ({
    kind: "process",
    tags: tagsOf(pid),
    attributes: {},
    first_seen_ts: at_ts,
    last_seen_ts: at_ts,
  }));
  return {
    ...emptyWindow(nsFromTs(at_ts - 1)),
    to_ns: nsFromTs(at_ts),
    series: new Map(series.map((one) => [seriesKey(one), one])),
    resources: new Map(resources.map((one) => [resourceKey(one), one])),
  };
}

/** Pids of the metrics of a name, as a payload without the levels of ended processes has them. */
function shown(window: Window, name: string): string[] {
  return snapshot(window, { context: {}, withoutEnded: true }).metrics
    .filter((metric) => metric.name === name).map(({ tags }) => tags["process.pid"]!);
}

Deno.test("levels of ended processes leave, states and sums stay", () => {
  const window = mergeAll([
    ...[1, 2, 3].map((at) => second(at, ["1", "7"])),
    ...[4, 5, 6].map((at) => second(at, ["1"])),
  ]);
  assert.deepEqual(shown(window, "process_cpu_usage_percent"), ["1"]);
  assert.deepEqual(shown(window, "engine_requests_running"), ["1"]);
  assert.deepEqual(shown(window, "cuda_graph_trace_mode"), ["1", "7"]);
  assert.deepEqual(shown(window, "process_user_cpu_seconds"), ["1", "7"]);
  const all = snapshot(window, { context: {} }).metrics;
  assert.equal(all.filter(({ tags }) => tags["process.pid"] === "7").length, 4);
});

Deno.test("a process that is not described, or whose series go on, has not ended", () => {
  const window = mergeAll([second(1, ["1", "7", "8"]), second(60, ["1"])].map((one, i) => ({
    ...one,
    from_ns: nsFromTs(START_TS + i),
    to_ns: nsFromTs(START_TS + i + 1),
  })));
  window.resources.delete(resourceKey({ kind: "process", tags: tagsOf("7") }));
  const going = gauge("process_threads", "8", START_TS + 60);
  window.series.set(seriesKey(going), going);
  assert.deepEqual(shown(window, "process_cpu_usage_percent"), ["1", "7", "8"]);
});

Deno.test("at any end, the levels are those of the processes that ran in the last seconds", () => {
  const lives = fc.array(fc.record({ from: fc.nat(40), seconds: fc.integer({ min: 1, max: 30 }) }));
  fc.assert(fc.property(lives, fc.integer({ min: 1, max: 40 }), (lives, end) => {
    const pids = (at: number) =>
      lives.flatMap(({ from, seconds }, i) =>
        at > from && at <= from + seconds ? [String(i + 2)] : []
      );
    const windows = Array.from({ length: end }, (_, i) => second(i + 1, ["1", ...pids(i + 1)]));
    const lately = new Set(["1", ...[end, end - 1, end - 2].filter((at) => at > 0).flatMap(pids)]);
    const levels = new Set(shown(mergeAll(windows), "process_cpu_usage_percent"));
    assert.deepEqual(levels, lately);
  }));
});
