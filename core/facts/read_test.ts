/** Reads of facts: steps of each instance in turn, with what is missing between them. */

import assert from "node:assert/strict";
import type { Instance } from "../payload.ts";
import type { SignalsReader, SpanWindow, SteppedSpan } from "../reader.ts";
import { seriesKey } from "../series/mod.ts";
import { nsFromTs, SECOND_NS } from "../time.ts";
import { emptyWindow } from "../window.ts";
import { readFacts } from "./read.ts";

const DAY = 86_400;

function instanceOf(instance_id: string, first_seen_ts: number, last_seen_ts: number): Instance {
  return { instance_id, resource_id: "r", tags: {}, attributes: {}, first_seen_ts, last_seen_ts };
}

/** A step in seconds, in which a counter grew by 1. */
function stepOf(from: number, to: number, rest: Partial<SpanWindow> = {}): SpanWindow {
  const window = { ...emptyWindow(nsFromTs(from)), to_ns: nsFromTs(to) };
  const series = {
    name: "work_total",
    type: "counter",
    tags: {},
    updated_ns: 0n,
    total: 1,
  } as const;
  window.series.set(seriesKey(series), series);
  return { window, payload_ns: nsFromTs(to), gaps: [], ...rest };
}

/** A reader of these steps, and what it was asked for. */
function readerOf(steps: Record<string, SpanWindow[]>) {
  const asked: [id: string, step: number][] = [];
  const reader: Pick<SignalsReader, "steps"> = {
    async *steps(id: string, { step_ns }: SteppedSpan) {
      asked.push([id, Number(step_ns / SECOND_NS)]);
      yield* steps[id] ?? [];
    },
  };
  return { reader, asked };
}

const span = { from_ns: nsFromTs(0), to_ns: nsFromTs(10 * DAY) };

Deno.test("facts of each instance come in their order, without those that have no window", async () => {
  const { reader, asked } = readerOf({
    a: [stepOf(0, 10), stepOf(10, 20, { final: true })],
    c: [stepOf(0, 10)],
  });
  const all = ["a", "b", "c"].map((id) => instanceOf(id, 0, 20));
  const facts = await Array.fromAsync(readFacts(reader, all, span));
  assert.deepEqual(facts.map(({ instance }) => instance.instance_id), ["a", "c"]);
  assert.deepEqual(facts.map((one) => one.span.is_running), [false, true]);
  assert.deepEqual(facts.map((one) => one.span.steady_seconds), [20, 10]);
  assert.deepEqual(asked.map(([id]) => id), ["a", "b", "c"]);
});

Deno.test("what is missing within steps and between them is a gap, once", async () => {
  const gap = (from: number, to: number) => ({ from_ns: nsFromTs(from), to_ns: nsFromTs(to) });
  const { reader } = readerOf({
    a: [
      stepOf(0, 20, { gaps: [gap(5, 10)] }),
      stepOf(40, 60, { gaps: [gap(30, 40), gap(50, 55)] }),
      stepOf(60, 70),
    ],
  });
  const [facts] = await Array.fromAsync(readFacts(reader, [instanceOf("a", 0, 70)], span));
  assert.deepEqual(facts!.span.gaps, [gap(5, 10), gap(20, 40), gap(50, 55)]);
});

Deno.test("a step is a thirtieth of the time that an instance ran in the span, or longer", async () => {
  const lengthsOf = async (...lives: [number, number][]) => {
    const { reader, asked } = readerOf({});
    const all = lives.map(([from, to], i) => instanceOf(String(i), from, to));
    await Array.fromAsync(readFacts(reader, all, span));
    return asked.map(([, step]) => step);
  };
  assert.deepEqual(await lengthsOf([0, 100], [0, 3_599], [5 * DAY, 7 * DAY]), [10, 120, 7_200]);
  assert.deepEqual(await lengthsOf([9 * DAY, 99 * DAY]), [3_600], "what is in the span counts");
  const many = await lengthsOf(
    ...Array.from({ length: 1_000 }, (): [number, number] => [0, 5_999]),
  );
  assert.deepEqual([...new Set(many)], [1_200], "of many instances each has fewer steps");
  assert.deepEqual([...new Set(await lengthsOf([0, 10 * DAY]))], [28_800], "of long spans too");
});

Deno.test("other work runs between two instances", async () => {
  const order: string[] = [];
  const { reader } = readerOf({ a: [stepOf(0, 10)], b: [stepOf(0, 10)] });
  for await (
    const { instance } of readFacts(reader, [instanceOf("a", 0, 9), instanceOf("b", 0, 9)], span)
  ) {
    order.push(instance.instance_id);
    setTimeout(() => order.push("timer"), 0);
  }
  assert.deepEqual(order.slice(0, 3), ["a", "timer", "b"]);
});
