/** The local endpoint answers for spans of time, from the history. */

import assert from "node:assert/strict";
import { decode, type Signals, signals, type Window } from "@service/core";
import { httpReader } from "@service/core/http_reader";
import { PACKED_TYPE, readWindows, WindowPacker } from "@service/core/packed";
import { problem } from "@service/core/payload_schema";
import { SECOND_NS, secondsFromNs } from "@service/core/time";
import fc from "fast-check";
import { createEndpoint } from "../serve/endpoint.ts";
import { History } from "./history.ts";
import { Sampler } from "./sampler.ts";

const START_NS = 1_790_000_000n * SECOND_NS;

/** The endpoint of a run whose clock is set; its source counts ticks, and refreshes as hundreds. */
function watched() {
  const clock = { now_ns: START_NS };
  const now_ns = () => clock.now_ns;
  const context = { "instance.id": "0123456789ab" };
  const instance = {
    instance_id: "0123456789ab",
    profiler_version: "1.2.3",
    start_ns: START_NS,
    tags: context,
    attributes: {},
  };
  const history = new History(new WindowPacker(instance));
  const sampler = new Sampler({
    start_ns: START_NS,
    now_ns,
    history,
    log: assert.fail,
    sources: [{
      sample: (recorder) => recorder.counter("samples_total", {}, 1),
      canRefresh: () => true,
      refresh: (recorder) => Promise.resolve(recorder.counter("samples_total", {}, 100)),
    }],
  });
  const answer = createEndpoint({
    instance,
    total: sampler.total,
    windows: history,
    context,
    version: "1.2.3",
    now_ns,
    host: "127.0.0.1",
    ready: Promise.resolve(),
  });
  const get = (query: string) => answer(new Request(`http://127.0.0.1/signals${query}`));
  const reader = httpReader({
    url: "http://127.0.0.1",
    fetch: (url, init) => answer(new Request(url, init)),
  });
  return {
    sampler,
    clock,
    get,
    reader,
    async ticks(count: number): Promise<void> {
      for (let i = 0; i < count; i++) {
        clock.now_ns = (clock.now_ns / SECOND_NS + 1n) * SECOND_NS;
        await sampler.tick();
      }
    },
    async read(query = ""): Promise<Signals> {
      const response = await get(query);
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return signals.check(decode(text));
    },
  };
}

function total({ metrics }: Signals, name = "samples_total"): number {
  const metric = metrics.find((metric) => metric.name === name);
  return metric && "total" in metric.stats ? Number(metric.stats.total) : 0;
}

/** Whole seconds of a payload's span after the start of the run. */
function span({ start_ns, payload_ns }: Signals): number[] {
  return [start_ns, payload_ns].map((ns) => Number(ns - START_NS) / 1e9);
}

Deno.test("seconds=15 is fifteen seconds, with all that was refreshed in them", async () => {
  const { ticks, read, sampler } = watched();
  await ticks(30);
  const payload = await read("?seconds=15");
  assert.deepEqual(span(payload), [15, 30]);
  assert.equal(total(payload), 15);
  assert.equal(total(payload, "profiler_covered_nanoseconds"), 15e9);
  await sampler.refresh();
  assert.equal(total(await read("?seconds=15")), 115);
  assert.deepEqual(span(await read("?seconds=0")), [30.000000001, 30.000000001]);
});

Deno.test("a span is the windows that end after start and not after end", async () => {
  const { ticks, read } = watched();
  await ticks(30);
  const at = (seconds: number) => secondsFromNs(START_NS + BigInt(seconds * 1e9));
  const cases: [query: string, from: number, to: number][] = [
    [`?start=${at(10)}&end=${at(20)}`, 10, 20],
    [`?start=${at(10.5)}&end=${at(20.5)}`, 10, 20],
    [`?start=${at(10)}`, 10, 30],
    [`?end=${at(20)}`, 0, 20],
    [`?start=${at(10)}&end=${at(99)}`, 10, 30],
    [`?start=${at(10)}&end=${at(10)}`, 10, 10],
    [`?start=${at(-5)}`, 0, 30],
    ["?start=0", 0, 30],
    ["?seconds=1000", 0, 30],
    ["", 0, 30],
  ];
  for (const [query, from, to] of cases) {
    const payload = await read(query);
    assert.deepEqual(span(payload), [from, to], query);
    assert.equal(total(payload), to - from, query);
    assert.deepEqual(payload.errors, [], query);
  }
});

Deno.test("reads that continue at payload_ns count everything once, whatever was refreshed between them", async () => {
  const steps = fc.array(fc.tuple(fc.constantFrom("tick", "refresh", "read"), fc.nat(2_000)));
  await fc.assert(fc.asyncProperty(steps, async (steps) => {
    const { sampler, clock, ticks, read } = watched();
    await ticks(1);
    let start = "0";
    let sum = 0;
    const follow = async () => {
      const payload = await read(`?start=${start}`);
      assert(start === "0" || secondsFromNs(payload.start_ns) === start);
      start = secondsFromNs(payload.payload_ns);
      sum += total(payload);
    };
    for (const [step, later_ms] of steps) {
      clock.now_ns += BigInt(later_ms) * 1_000_000n;
      if (step === "tick") await sampler.tick();
      if (step === "refresh") await sampler.refresh();
      if (step === "read") await follow();
    }
    await follow();
    assert.equal(sum, total(await read()));
  }));
});

Deno.test("a metric without updates for ten minutes leaves the report, and returns with its total", async () => {
  const { ticks, read, sampler } = watched();
  let isAlive = true;
  sampler.add({
    sample: (recorder) => {
      if (isAlive) recorder.counter("worker_total", { "process.pid": "7" }, 1);
    },
  });
  const isReported = async () => (await read()).metrics.some(({ name }) => name === "worker_total");
  await ticks(3);
  isAlive = false;
  await ticks(600);
  assert(await isReported());
  await ticks(1);
  assert(!await isReported());
  assert.equal(total(await read()), 604);
  isAlive = true;
  await ticks(1);
  assert.equal(total(await read(), "worker_total"), 4);
});

Deno.test("a span that begins before the history says from where it counts", async () => {
  const { ticks, read } = watched();
  await ticks(700);
  const payload = await read(
    `?start=${secondsFromNs(START_NS)}&end=${secondsFromNs(START_NS + 650n * SECOND_NS)}`,
  );
  assert.deepEqual(span(payload), [100, 650]);
  assert.equal(total(payload), 550);
  const [warning] = payload.errors;
  assert.equal(warning?.level, "warning");
  assert.match(warning.message, /from 1790000000 to 1790000100 .* not kept any more/);
  assert.equal(total(await read("?start=0")), 700, "everything since the start is always there");
});

for (
  const [query, parameter] of [
    ["seconds=5&start=1790000000", "seconds"],
    ["seconds=5&end=1790000000", "seconds"],
    ["start=1790000020&end=1790000010", "start"],
    ["start=1790001000", "start"],
    ["end=1789999999", "end"],
    ["seconds=-1", "seconds"],
    ["seconds=1&seconds=2", "seconds"],
    ["start=yesterday", "start"],
    ["end=1790000000.1234567891", "end"],
  ] as const
) {
  Deno.test(`?${query} is refused and names ${parameter}`, async () => {
    const { ticks, get } = watched();
    await ticks(30);
    const response = await get(`?${query}`);
    assert.equal(response.status, 400);
    const { errors } = problem.check(await response.json());
    assert.deepEqual(errors.map((error) => error.parameter), [parameter]);
  });
}

Deno.test("the stream of a span is what /signals answers, whole or in steps", async () => {
  const { ticks, read, reader } = watched();
  await ticks(60);
  const ID = "0123456789ab";
  const seconds = fc.integer({ min: -5, max: 65 });
  await fc.assert(
    fc.asyncProperty(seconds, seconds, fc.integer({ min: 1, max: 20 }), async (a, b, step) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      const [from_ns, to_ns] = [from, to].map((at) => START_NS + BigInt(at) * SECOND_NS);
      const span = { from_ns: from_ns!, to_ns: to_ns! };
      const query = `?start=${secondsFromNs(span.from_ns)}&end=${secondsFromNs(span.to_ns)}`;
      if (span.to_ns < START_NS) return;
      const payload = await read(query);
      const [streamed, ...more] = await Array.fromAsync(reader.windows([ID], span, {}));
      assert.equal(more.length, 0);
      const { window, instance, payload_ns, gaps } = streamed!;
      assert.equal(instance.instance_id, ID);
      assert.deepEqual([payload_ns, gaps], [payload.payload_ns, []]);
      assert.equal(countIn(window), total(payload));
      const steps = reader.steps(ID, { ...span, step_ns: BigInt(step) * SECOND_NS }, {});
      const counts = await Array.fromAsync(steps, ({ window }) => countIn(window));
      assert.equal(counts.reduce((sum, count) => sum + count, 0), total(payload));
    }),
    { numRuns: 50 },
  );
  const [listed] = await reader.instances({}, { from_ns: START_NS, to_ns: START_NS }, { limit: 9 });
  assert.equal(listed?.last_seen_ts, Number(START_NS / SECOND_NS) + 60);
});

function countIn({ series }: Window): number {
  for (const one of series.values()) {
    if (one.name === "samples_total" && one.type === "counter") return Number(one.total);
  }
  return 0;
}

Deno.test("without parameters the stream is one window, with everything since the start", async () => {
  const { ticks, get, read } = watched();
  await ticks(3);
  const response = await get("/windows");
  assert.equal(response.headers.get("content-type"), PACKED_TYPE);
  const [one, ...more] = await Array.fromAsync(readWindows(response.body!));
  assert.equal(more.length, 0);
  assert.equal(countIn(one!.window), total(await read()));
  const empty = await get("/windows?metrics=none");
  const [selected] = await Array.fromAsync(readWindows(empty.body!));
  assert.equal(selected!.window.series.size, 0);
});

for (const [query, parameter] of [["step=0", "step"], ["step=0.0001", "step"], ["top=0", "top"]]) {
  Deno.test(`/signals/windows?${query} is refused and names ${parameter}`, async () => {
    const { get, ticks } = watched();
    await ticks(3);
    const response = await get(`/windows?${query}`);
    assert.equal(response.status, 400);
    const { errors } = problem.check(await response.json());
    assert.deepEqual(errors.map((error) => error.parameter), [parameter]);
  });
}
