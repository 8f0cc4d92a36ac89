/** The reader of a project: pages of instances, windows of many, steps of one. */

import assert from "node:assert/strict";
import type { SignalsReader } from "@service/core";
import { httpReader } from "@service/core/http_reader";
import { nsFromTs, SECOND_NS } from "@service/core/time";
import { testOnEachStorage } from "../testing/each_storage.ts";
import { newInstanceId, newKey, NOW_TS, send, type TestService } from "../testing/api.ts";
import { StorageReader } from "./reader.ts";

const START = NOW_TS - 1_000;
const SPAN = { from_ns: nsFromTs(START), to_ns: nsFromTs(NOW_TS) };

/** A reader that has the same answers as another one, and fails where that fails. */
function same(reader: SignalsReader, other: SignalsReader): SignalsReader {
  async function* checked<T>(read: (reader: SignalsReader) => AsyncIterable<T>) {
    const [all, others] = await both((one) => Array.fromAsync(read(one)));
    assert.deepEqual(others, all);
    yield* all;
  }
  async function both<T>(read: (reader: SignalsReader) => Promise<T>): Promise<[T, T]> {
    const [one, two] = await Promise.allSettled([read(reader), read(other)]);
    assert.equal(two.status, one.status);
    if (one.status === "rejected") throw one.reason;
    return [one.value, (two as typeof one).value];
  }
  return {
    async instances(...asked) {
      const [page, others] = await both((one) => one.instances(...asked));
      assert.deepEqual(others, page);
      return page;
    },
    windows: (...asked) =>
      checked(async function* (one) {
        for await (const read of one.windows(...asked)) {
          const { instance, window, payload_ns, gaps, final } = read;
          yield { instance, window, payload_ns, gaps, final };
        }
      }),
    steps: (...asked) =>
      checked(async function* (one) {
        for await (const { window, payload_ns, gaps, final } of one.steps(...asked)) {
          yield { window, payload_ns, gaps, final };
        }
      }),
  };
}

/** The reader of a key's project, over HTTP the same. */
async function readerOf(test: TestService): Promise<SignalsReader> {
  const overHttp = httpReader({
    url: "http://hosted.example",
    key: test.key,
    fetch: ({ pathname, search }, init) => test.request(pathname + search, init),
  });
  return same(await storageReaderOf(test), overHttp);
}

async function storageReaderOf({ db, service, clock, key }: TestService): Promise<SignalsReader> {
  const { rows: [row] } = await db.query({
    sql: "SELECT p.id, p.name FROM keys k JOIN projects p ON p.id = k.project WHERE k.prefix = ?",
    args: [key.slice(0, 12)],
  });
  return new StorageReader({
    db,
    project: row as unknown as { id: bigint; name: string },
    blocks: service.memory.blocks,
    now_ns: clock.now_ns,
    retention_days: 30,
  });
}

/** Instances that started one after the other, a window of ten seconds each; the newest first. */
async function sendInstances(service: TestService, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, newInstanceId);
  for (const [i, instance_id] of ids.entries()) {
    const from = START + 10 * i;
    const tags = { "host.name": `host ${i % 2}` };
    await send(service, { instance_id, start: from, from, to: from + 10, work: i + 1, tags });
  }
  return ids.reverse();
}

testOnEachStorage({
  async "pages of instances follow each other, the newest instance first"(service) {
    const ids = await sendInstances(service, 5);
    const reader = await readerOf(service);
    const listed: string[] = [];
    while (listed.length % 2 === 0 && listed.length < 9) {
      const page = await reader.instances({}, SPAN, { limit: 2, after: listed.at(-1) });
      listed.push(...page.map(({ instance_id }) => instance_id));
    }
    assert.deepEqual(listed, ids);
    const selected = await reader.instances(
      { tags: { "host.name": "host 0" } },
      SPAN,
      { limit: 9, after: ids[0] },
    );
    assert.deepEqual(selected.map(({ instance_id }) => instance_id), [ids[2], ids[4]]);
    await assert.rejects(reader.instances({}, SPAN, { limit: 1, after: "none" }), {
      name: "RangeError",
      message: /after must be the id of a known instance: got "none"/,
    });
  },

  async "windows come in the order of the ids, however many there are"(service) {
    const ids = await sendInstances(service, 30);
    const shuffled = ids.toSorted();
    const reader = await readerOf(service);
    const windows = await Array.fromAsync(reader.windows(shuffled, SPAN, {}));
    assert.deepEqual(windows.map(({ instance }) => instance.instance_id), shuffled);
    for (const { instance, window, payload_ns, gaps } of windows) {
      const [counter] = window.series.values();
      assert.ok(counter?.type === "counter");
      assert.equal(counter.total, ids.length - ids.indexOf(instance.instance_id));
      assert.equal(payload_ns, window.to_ns);
      assert.deepEqual(gaps, []);
    }
  },

  async "a window that ends outside the span, or is another project's, is left out"(service) {
    const [id] = await sendInstances(service, 1);
    const reader = await readerOf(service);
    const before = { from_ns: nsFromTs(START - 100), to_ns: nsFromTs(START + 9) };
    const [empty] = await Array.fromAsync(reader.windows([id!], before, {}));
    assert.equal(empty!.window.series.size, 0);
    const other = await readerOf({ ...service, key: await newKey(service.db) });
    assert.deepEqual(await Array.fromAsync(other.windows([id!], SPAN, {})), []);
    assert.deepEqual(
      await Array.fromAsync(other.steps(id!, { ...SPAN, step_ns: SECOND_NS }, {})),
      [],
    );
    assert.deepEqual(await other.instances({}, SPAN, { limit: 9 }), []);
  },

  async "an id that is there twice counts once, and a step of 0 or less is refused"(service) {
    const [a, b] = await sendInstances(service, 2);
    const reader = await readerOf(service);
    const read = await Array.fromAsync(reader.windows([b!, a!, b!, a!], SPAN, {}));
    assert.deepEqual(read.map(({ instance }) => instance.instance_id), [b, a]);
    for (const step_ns of [0n, -SECOND_NS]) {
      const reading = Array.fromAsync(reader.steps(a!, { ...SPAN, step_ns }, {}));
      await assert.rejects(reading, { name: "RangeError", message: /step_ns must be more than 0/ });
    }
  },

  async "steps hold whole windows"(service) {
    const instance_id = newInstanceId();
    for (let i = 0; i < 12; i++) {
      const from = START + 10 * i;
      await send(service, { instance_id, start: START, from, to: from + 10, final: i === 11 });
    }
    const steps = await Array.fromAsync(
      (await readerOf(service)).steps(instance_id, { ...SPAN, step_ns: 30n * SECOND_NS }, {}),
    );
    const totals = steps.map(({ window }) => {
      const [counter] = window.series.values();
      return counter?.type === "counter" ? counter.total : null;
    });
    assert.equal(START % 30, 10);
    assert.deepEqual(totals, [2, 3, 3, 3, 1]);
    assert.deepEqual(steps.map(({ final }) => final), [false, false, false, false, true]);
    for (const [i, { window, gaps }] of steps.entries()) {
      assert.equal(window.from_ns, steps[i - 1]?.window.to_ns ?? nsFromTs(START));
      assert.deepEqual(gaps, []);
    }
  },
});
