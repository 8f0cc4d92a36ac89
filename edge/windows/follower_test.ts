/** Consecutive reads of an instance: together they give what one read of the whole span gives. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { binIndex, encodeUpload, type Series, type Signals } from "@service/core";
import { nsFromTs, secondsFromNs } from "@service/core/time";
import { testOnEachStorage, testOnFile } from "../testing/each_storage.ts";
import { maintain } from "./maintenance.ts";
import { makeUpload, newInstanceId, NOW_TS, post, read, type TestService } from "../testing/api.ts";

const START = NOW_TS - 1_000;
const RUNS = 12;

/** A window to send: its length in seconds, its position in the order of arrival, and its values. */
interface Planned {
  seconds: number;
  arrival: number;
  counter: number;
  values: number[];
  frames: Record<string, number>;
}

const planned: fc.Arbitrary<Planned> = fc.record({
  seconds: fc.integer({ min: 1, max: 10 }),
  arrival: fc.integer(),
  counter: fc.maxSafeNat(),
  values: fc.array(fc.integer({ min: 0, max: 1e9 }), { maxLength: 5 }),
  frames: fc.dictionary(fc.constantFrom("gemm", "softmax", "copy"), fc.nat()),
});

testOnEachStorage({
  async "consecutive reads add up to one read of the whole span"(service) {
    await fc.assert(
      fc.asyncProperty(
        fc.array(planned, { minLength: 1, maxLength: 8 }),
        (plan) => follow(service, plan),
      ),
      { numRuns: RUNS },
    );
  },
});

/** Time that the long test follows: a whole day takes a minute. */
const FOLLOWED_S = Deno.env.get("SERVICE_TEST_FOLLOW_DAY") ? 86_400 : 1_800;
const WINDOW_S = 10;
const READ_EVERY_S = 5;

/** A random number for each window, from which its delay and its values are derived. */
const lots: fc.Arbitrary<number[]> = fc.array(fc.nat({ max: 999 }), {
  minLength: FOLLOWED_S / WINDOW_S,
  maxLength: FOLLOWED_S / WINDOW_S,
});

testOnFile(
  "a client that reads every 5 s gets all late, repeated and unordered windows",
  (service) =>
    fc.assert(fc.asyncProperty(lots, (lots) => followAll(service, lots)), {
      numRuns: 1,
      endOnFailure: true,
    }),
);

/** Sends the windows, reads every 5 s, and compares the sums with one read at the end. */
async function followAll(service: TestService, lots: number[]): Promise<void> {
  const instance_id = newInstanceId();
  const arrivals = arrivalsOf(instance_id, lots);
  const base = NOW_TS;
  const first = Math.min(...arrivals.keys());
  const sums = new Map<string, bigint>();
  let next_ns = nsFromTs(base);
  const end = base + FOLLOWED_S + 1_000;
  for (let at = base; at < end; at += READ_EVERY_S) {
    service.clock.now_ns = nsFromTs(at);
    for (const body of arrivals.get(at) ?? []) {
      assert.equal(
        (await post(service, body)).status,
        200,
      );
    }
    if ((at - base) % 600 === 0) {
      const { blocks } = service.service.memory;
      const { now_ns } = service.clock;
      await maintain(service.db, { now_ns, retention_days: 30, blocks });
    }
    if (at < first) continue;
    const payload = await read(
      service,
      `instance_id=${instance_id}&start=${secondsFromNs(next_ns)}`,
    );
    add(sums, payload);
    next_ns = payload.payload_ns;
  }
  const expected = new Map<string, bigint>();
  add(expected, await read(service, `instance_id=${instance_id}&start=${base}`));
  assert.deepEqual([...sums].sort(), [...expected].sort());
  assert.equal(expected.get("counter"), BigInt(lots.length) * 7n);
}

/** Bodies by second of arrival: some late, some twice, and those of an outage at its end, mixed. */
function arrivalsOf(instance_id: string, lots: number[]): Map<number, string[]> {
  const arrivals = new Map<number, string[]>();
  const outage = { from: NOW_TS + 700, to: NOW_TS + 1_300 };
  lots.forEach((lot, i) => {
    const [from, to] = [NOW_TS + i * WINDOW_S, NOW_TS + (i + 1) * WINDOW_S];
    const planned = {
      seconds: WINDOW_S,
      arrival: 0,
      counter: 7,
      values: [lot],
      frames: { gemm: lot },
    };
    const series = seriesOf(planned, nsFromTs(to));
    const final = i === lots.length - 1;
    const upload = makeUpload({ instance_id, start: NOW_TS, from, to, final, series });
    const isOut = to > outage.from && to <= outage.to;
    const late = isOut ? outage.to - to + lot % 4 * 5 : lot < 100 ? lot % 40 * 5 : 0;
    // What the final window would contradict comes before it.
    const times = final ? [800] : lot % 10 === 0 ? [late, late + 60] : [late];
    for (const after of times) {
      const at = to + after;
      arrivals.set(at, [...arrivals.get(at) ?? [], encodeUpload(upload)]);
    }
  });
  return arrivals;
}

/** Sends the windows in the order of their arrival, with a read after each. */
async function follow(service: TestService, plan: Planned[]): Promise<void> {
  const instance_id = newInstanceId();
  const sums = new Map<string, bigint>();
  let next_ns = nsFromTs(START);
  const readOn = async () => {
    const payload = await read(
      service,
      `instance_id=${instance_id}&start=${secondsFromNs(next_ns)}`,
    );
    assert.equal(payload.start_ns, next_ns);
    assert.ok(payload.payload_ns >= next_ns);
    add(sums, payload);
    next_ns = payload.payload_ns;
  };
  for (const body of inOrderOfArrival(instance_id, plan)) {
    assert.equal((await post(service, body)).status, 200);
    await readOn();
  }
  await readOn();
  const expected = new Map<string, bigint>();
  add(expected, await read(service, `instance_id=${instance_id}&start=${START}`));
  assert.deepEqual([...sums].sort(), [...expected].sort());
  const sent = plan.reduce((total, { counter }) => total + BigInt(counter), 0n);
  assert.equal(expected.get("counter"), sent);
}

function inOrderOfArrival(instance_id: string, plan: Planned[]): string[] {
  let at = START;
  const bodies = plan.map((one, i) => {
    const [from, to] = [at, at += one.seconds];
    const series = seriesOf(one, nsFromTs(to));
    const final = i === plan.length - 1;
    const upload = makeUpload({ instance_id, start: START, from, to, final, series });
    return { arrival: one.arrival, body: encodeUpload(upload) };
  });
  return bodies.sort((a, b) => a.arrival - b.arrival).map(({ body }) => body);
}

function seriesOf({ counter, values, frames }: Planned, updated_ns: bigint): Series[] {
  const bins = new Map<number, number>();
  for (const value of values) bins.set(binIndex(value), (bins.get(binIndex(value)) ?? 0) + 1);
  const common = { tags: {}, updated_ns };
  return [
    { ...common, name: "counter", type: "counter", total: counter },
    {
      ...common,
      name: "histogram",
      type: "histogram",
      count: values.length,
      sum: values.reduce((sum, value) => sum + value, 0),
      min: values.length > 0 ? Math.min(...values) : null,
      max: values.length > 0 ? Math.max(...values) : null,
      buckets: { bins },
    },
    {
      ...common,
      name: "profile",
      type: "profile",
      frames: new Map(
        Object.entries(frames).map(([name, value]) => [name, { value, samples: 2 }]),
      ),
    },
  ];
}

/** Adds the cumulative values of a payload. */
function add(sums: Map<string, bigint>, { metrics }: Signals): void {
  const plus = (name: string, value: number | bigint) => {
    sums.set(name, (sums.get(name) ?? 0n) + BigInt(value));
  };
  for (const metric of metrics) {
    if (metric.type === "counter") plus(metric.name, metric.stats.total);
    if (metric.type === "histogram") {
      plus("count", metric.stats.count);
      plus("sum", metric.stats.sum);
    }
    if (metric.type !== "profile") continue;
    for (const { name, value, samples } of metric.stats.frames) {
      plus(`${name} value`, value);
      plus(`${name} samples`, samples);
    }
  }
}
