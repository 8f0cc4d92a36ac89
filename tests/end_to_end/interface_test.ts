/** The interface's sentences about both endpoints: the fields of their answers, and what these mean. */

import assert from "node:assert/strict";
import type { Metric, Signals } from "@service/core";
import { tsFromNs } from "@service/core/time";
import profiler from "../../deno.json" with { type: "json" };
import platform from "../../edge/deno.json" with { type: "json" };
import { parse, seen } from "./interface_scene.ts";

/** The stats of the metric `name`. */
function stats(text: string, name: string): Metric["stats"] {
  const found = parse(text).metrics.find((metric) => metric.name === name);
  assert(found, name);
  return found.stats;
}

/** Fields of the objects of a payload; those behind `?` may be absent. */
const FIELDS = {
  payload: "payload_ns start_ns context metrics errors resources",
  metric: "name type tags stats updated_ns",
  gauge: "value",
  counter: "total",
  histogram: "count sum min max mean p50 p95",
  profile: "frames",
  error: "level message exception log_ns",
  resource: "kind tags attributes first_seen_ts last_seen_ts",
  instance: "instance_id resource_id tags attributes first_seen_ts last_seen_ts",
};

/** Asserts that an object has the fields and no others, but for those that it may have. */
function assertFields(value: object, fields: string, optional: string[] = []): void {
  const names = Object.keys(value).filter((name) => !optional.includes(name));
  assert.deepEqual(names.sort(), fields.split(" ").sort());
}

/** Asserts that an object maps strings to strings. */
function assertTexts(value: object): void {
  for (const text of Object.values(value)) assert.equal(typeof text, "string");
}

Deno.test("both payloads have the fields of the interface, and only profiler and platform differ", async () => {
  const { local, hosted } = await seen();
  const versions = { profiler: profiler.version, platform: platform.version };
  for (const [body, software] of [[local[1], "profiler"], [hosted, "platform"]] as const) {
    // As any client reads it: the checks of this repository have no part in it.
    const payload = JSON.parse(body);
    assertFields(payload, `${software} ${FIELDS.payload}`);
    assert.deepEqual(payload[software], { version: versions[software] });
    assertTexts(payload.context);
    assert(payload.metrics.length > 20);
    for (const metric of payload.metrics) {
      assertFields(metric, FIELDS.metric);
      assertTexts({ name: metric.name, ...metric.tags });
      assert(["gauge", "counter", "histogram", "profile"].includes(metric.type));
      assertFields(metric.stats, FIELDS[metric.type as Metric["type"]]);
    }
    assert(payload.errors.length >= 2);
    for (const error of payload.errors) {
      assertFields(error, FIELDS.error, ["tags"]);
      const { level, message, exception } = error;
      assertTexts({ level, message, exception });
    }
    assert(payload.resources.length >= 2);
    for (const resource of payload.resources) {
      assertFields(resource, FIELDS.resource);
      assertTexts({ kind: resource.kind, ...resource.tags, ...resource.attributes });
    }
  }
});

Deno.test("fields in _ns are epoch nanoseconds, fields in _ts epoch seconds, all as integers", async () => {
  const { local, hosted, instances } = await seen();
  const now_s = Date.now() / 1_000;
  for (const body of [...local, hosted, instances]) {
    const counts = { ns: 0, ts: 0 };
    for (const [, unit, value = ""] of body.matchAll(/"\w+_(ns|ts)":([^,}\]]*)/g)) {
      assert.match(value, /^\d+$/);
      const seconds = Number(value) / (unit === "ns" ? 1e9 : 1);
      assert(Math.abs(now_s - seconds) < 3_600, `${unit} ${value}`);
      counts[unit as "ns" | "ts"]++;
    }
    assert(counts.ts >= 2 && (counts.ns > 20 || body === instances), JSON.stringify(counts));
  }
});

Deno.test("payload_ns is the snapshot instant, start_ns the start of the run or the caller's start", async () => {
  const { local, parts, hosted, until, started_ms, answered_ms } = await seen();
  const [first, second] = local.map(parse) as [Signals, Signals];
  assert.equal(first.start_ns, second.start_ns);
  const start_ms = Number(first.start_ns) / 1e6;
  assert(started_ms - 2 <= start_ms && start_ms <= answered_ms + 2, "clocks agree within 2 ms");
  assert(first.start_ns < first.payload_ns && first.payload_ns < second.payload_ns);
  const [before, after] = parts.map(parse) as [Signals, Signals];
  const start_ns = BigInt(tsFromNs(first.start_ns)) * 1_000_000_000n;
  for (const payload of [before, parse(hosted), parse(until)]) {
    assert.equal(payload.start_ns, start_ns);
  }
  assert.equal(after.start_ns, before.payload_ns);
  assert.equal(parse(until).payload_ns, before.payload_ns);
  for (const payload of [first, second, before, after, parse(hosted)]) {
    for (const { updated_ns } of payload.metrics) {
      assert(payload.start_ns < updated_ns && updated_ns <= payload.payload_ns);
    }
    for (const { log_ns } of payload.errors) assert(log_ns <= payload.payload_ns);
  }
});

Deno.test("a gauge is the newest value, counters and histograms count from the start of the answer", async () => {
  const { local, parts, hosted, until } = await seen();
  const expected: [text: string, level: number, done: number, waited: number][] = [
    [local[0], 7, 10, 8],
    [parts[0], 7, 10, 8],
    [until, 7, 10, 8],
    [local[1], 3, 25, 16],
    [hosted, 3, 25, 16],
    [parts[1], 3, 15, 8],
  ];
  for (const [text, level, done, waited] of expected) {
    assert.deepEqual(stats(text, "app_level"), { value: level });
    assert.deepEqual(stats(text, "app_done_total"), { total: done });
    const waits = stats(text, "app_wait_seconds");
    assert.deepEqual({ ...waits, p50: null, p95: null }, {
      ...{ count: waited, sum: waited * 1.125, mean: 1.125 },
      ...{ min: null, max: null, p50: null, p95: null },
    });
  }
});

Deno.test("what Prometheus does not tell is null: extremes of a histogram, quantiles of a summary", async () => {
  const { local, hosted } = await seen();
  for (const text of [local[1], hosted]) {
    // PromQL's: the 8th of 16 lies in the middle of the bucket of 12, the 15.2th above all bounds.
    assert.deepEqual(stats(text, "app_wait_seconds"), {
      ...{ count: 16, sum: 18, min: null, max: null, mean: 1.125, p50: 1.1, p95: 1.2 },
    });
    assert.deepEqual(stats(text, "app_size_bytes"), {
      ...{ count: 16, sum: 40, min: null, max: null, mean: 2.5, p50: null, p95: null },
    });
    assert.deepEqual(stats(text, "app_idle"), { value: 0 });
  }
});

Deno.test("errors have the level, the text, the traceback and the time, the newest first", async () => {
  const { local, hosted } = await seen();
  for (const text of [local[1], hosted]) {
    const { errors } = parse(text);
    assert.deepEqual([...new Set(errors.map(({ level }) => level))].sort(), ["error", "warning"]);
    const failed = errors.find(({ message }) => /a step failed/.test(message))!;
    assert.equal(failed.level, "error");
    assert.match(failed.exception, /^Traceback[^]*ZeroDivisionError: division by zero$/);
    const slow = errors.find(({ level }) => level === "warning")!;
    assert.match(slow.message, /slow batch/);
    const times = errors.map(({ log_ns }) => log_ns);
    assert.deepEqual(times, times.toSorted((a, b) => (a < b ? 1 : a > b ? -1 : 0)));
  }
});

Deno.test("a host has no tags, a process has its pid, and both have their attributes", async () => {
  const { local, hosted } = await seen();
  for (const text of [local[1], hosted]) {
    const { resources, context, metrics } = parse(text);
    const [host, ...hosts] = resources.filter(({ kind }) => kind === "host");
    assert.deepEqual([host!.tags, hosts], [{}, []]);
    assert.equal(host!.attributes["platform.name"], "Linux");
    const pid = context["process.pid"]!;
    const process = resources.find(({ tags }) => tags["process.pid"] === pid)!;
    assert.deepEqual([process.kind, process.tags], ["process", { "process.pid": pid }]);
    assert.match(process.attributes["process.command_line"]!, /python3 .* --token \[redacted\]$/s);
    assert(metrics.some(({ tags }) => tags["process.pid"] === pid));
    for (const { first_seen_ts, last_seen_ts } of resources) assert(first_seen_ts <= last_seen_ts);
  }
});

Deno.test("the list has the run once, with all its tags, and context has the same", async () => {
  const { local, hosted, instances } = await seen();
  const [instance, ...others] = JSON.parse(instances).instances;
  assert.deepEqual(others, []);
  assertFields(instance, FIELDS.instance);
  const { context, start_ns } = parse(local[1]);
  assert.match(context["instance.id"]!, /^[0-9a-f]{12}$/);
  assert.equal(context["host.name"], Deno.hostname());
  assert.match(context["process.pid"]!, /^\d+$/);
  assert.deepEqual([context.team, context.stage], ["kernels", "test"]);
  const names = { "project.name": "demo", "api_key.name": instance.tags["api_key.name"] };
  assert(names["api_key.name"]);
  assert.deepEqual(instance.tags, { ...context, ...names });
  assert.deepEqual(parse(hosted).context, instance.tags);
  assert.equal(instance.instance_id, context["instance.id"]);
  assert.match(instance.resource_id, /^[0-9a-f]{16}$/);
  assert.match(instance.attributes["process.command_line"], /^python3 .* --token \[redacted\]$/s);
  assert.equal(instance.first_seen_ts, tsFromNs(start_ns));
  assert(instance.last_seen_ts >= tsFromNs(parse(local[1]).payload_ns));
});

Deno.test("/health of a run says ok", async () => {
  assert.deepEqual(JSON.parse((await seen()).health), { status: "ok" });
});
