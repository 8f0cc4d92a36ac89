/** Roll-ups: made when a span is over, made again for late windows, and downsampled later. */

import assert from "node:assert/strict";
import { encodeUpload, type Series } from "@service/core";
import { MAX_SERIES } from "@service/core/limits";
import { nsFromTs } from "@service/core/time";
import { testOnEachStorage, testOnFile } from "../testing/each_storage.ts";
import {
  makeUpload,
  newInstanceId,
  NOW_TS,
  post,
  read,
  send,
  type TestService,
  work,
} from "../testing/api.ts";
import { maintain } from "./maintenance.ts";
import { DAY_NS } from "./levels.ts";
import { rollUp } from "./rollup.ts";

/** Starts a minute, ten minutes, two hours and a day. */
const START = Math.floor(NOW_TS / 86_400) * 86_400;

/** Pieces of one instance by level. */
async function levels({ db }: TestService, instance_id: string): Promise<Record<string, number>> {
  const { rows } = await db.query({
    sql: `SELECT level, count(*) AS pieces FROM windows w JOIN instances i ON i.id = w.instance
      WHERE instance_id = ? GROUP BY level`,
    args: [instance_id],
  });
  return Object.fromEntries(rows.map(({ level, pieces }) => [String(level), Number(pieces)]));
}

async function sendMinutes(
  service: TestService,
  { from = 0, minutes, skip = [] }: { from?: number; minutes: number; skip?: number[] },
): Promise<string> {
  const instance_id = newInstanceId();
  for (let at = from; at < minutes * 60; at += 20) {
    if (skip.includes(at)) continue;
    await send(service, { instance_id, start: START, from: START + at, to: START + at + 20 });
  }
  return instance_id;
}

async function maintainAll({ db, clock, service }: TestService): Promise<void> {
  const { blocks } = service.memory;
  while (!await maintain(db, { now_ns: clock.now_ns, retention_days: 30, blocks }));
}

testOnEachStorage({
  async "spans are rolled up when they are over"(service) {
    const instance_id = await sendMinutes(service, { minutes: 29 });
    assert.deepEqual(await levels(service, instance_id), { 0: 87, 60: 29, 600: 2 });
    assert.equal(work(await read(service, `instance_id=${instance_id}&start=${START}`)), 87);
  },

  async "windows that have more together than an upload may have are read, also later"(service) {
    const instance_id = newInstanceId();
    const [windows, each] = [3, 7_000];
    for (let i = 0; i < windows; i++) {
      const [from, to] = [START + 20 * i, START + 20 * (i + 1)];
      const series = Array.from({ length: each }, (_, n): Series => ({
        name: `gauge_${i * each + n}`,
        type: "gauge",
        tags: {},
        updated_ns: nsFromTs(to),
        value: n,
      }));
      await send(service, {
        instance_id,
        start: START,
        from,
        to,
        series,
        final: i === windows - 1,
      });
    }
    assert.ok(windows * each > MAX_SERIES);
    const query = `instance_id=${instance_id}&start=${START}&end=${START + 60}`;
    for (const days of [0n, 3n]) {
      service.clock.now_ns += days * DAY_NS;
      await maintainAll(service);
      const { metrics, errors } = await read(service, query);
      assert.deepEqual(errors, []);
      assert.equal(metrics.length, windows * each);
    }
  },

  async "long spans that end at the same instant are rolled up at different times"(service) {
    const results = await Promise.all(Array.from({ length: 4 }, async () => {
      const instance_id = newInstanceId();
      for (let to = 60;; to += 60) {
        const times = { start: START, from: START + to - 60, to: START + to };
        await send(service, { instance_id, ...times });
        if ((await levels(service, instance_id))[600]) return to;
      }
    }));
    assert(results.every((at) => at >= 600 && at <= 1_200), results.join());
    assert(new Set(results).size > 1, results.join());
  },

  async "windows behind a gap are rolled up as they come"(service) {
    const instance_id = await sendMinutes(service, { minutes: 29, skip: [80] });
    assert.deepEqual(await levels(service, instance_id), { 0: 86, 60: 29, 600: 2 });
  },

  async "a late window makes the roll-up of its minute again, and the maintenance longer ones"(
    service,
  ) {
    const instance_id = await sendMinutes(service, { minutes: 29, skip: [80] });
    assert.deepEqual(await levels(service, instance_id), { 0: 86, 60: 29, 600: 2 });
    await send(service, { instance_id, start: START, from: START + 80, to: START + 100 });
    assert.deepEqual(await levels(service, instance_id), { 0: 87, 60: 29, 600: 1 });
    assert.equal(work(await read(service, `instance_id=${instance_id}&start=${START}`)), 87);
    service.clock.now_ns += DAY_NS / 24n;
    await maintainAll(service);
    assert.deepEqual(await levels(service, instance_id), { 0: 87, 60: 29, 600: 2 });
    assert.equal(work(await read(service, `instance_id=${instance_id}&start=${START}`)), 87);
  },

  async "a roll-up without a window that arrived meanwhile is not stored"(service) {
    const instance_id = await sendMinutes(service, { minutes: 2, skip: [20] });
    const { rows: [row] } = await service.db.query({
      sql: "SELECT id, project FROM instances WHERE instance_id = ?",
      args: [instance_id],
    });
    const read = service.db.query.bind(service.db);
    const late = makeUpload({ instance_id, start: START, from: START + 20, to: START + 40 });
    service.db.query = async (statement) => {
      const result = await read(statement);
      service.db.query = read;
      assert.equal((await post(service, encodeUpload(late))).status, 200);
      return result;
    };
    const results = await rollUp(service.db, {
      blocks: service.service.memory.blocks,
      project: row!.project as bigint,
      instance: row!.id as bigint,
      level: 600,
      end_ns: nsFromTs(START + 600),
      max_pieces: 100,
    });
    assert.equal(results, false);
  },

  async "a downsampled span is read completely, cut at whole roll-ups, with a warning"(service) {
    const instance_id = await sendMinutes(service, { minutes: 20 });
    service.clock.now_ns += 3n * DAY_NS;
    await maintainAll(service);
    assert.deepEqual(await levels(service, instance_id), { 60: 20, 600: 2 });
    const query = `instance_id=${instance_id}`;
    const between = (from: number, to: number) =>
      read(service, `${query}&start=${START + from}&end=${START + to}`);
    assert.equal(work(await between(0, 1_200)), 60);
    assert.equal(work(await between(60, 180)), 6);
    const [first, second] = [await between(0, 90), await between(90, 1_200)];
    assert.equal(Number(work(first)) + Number(work(second)), 60);
    assert.match(second.errors[0]!.message, new RegExp(`from ${START + 60} to ${START + 1_200} `));
    service.clock.now_ns += 7n * DAY_NS;
    await maintainAll(service);
    assert.deepEqual(await levels(service, instance_id), { 600: 2 });
    assert.equal(work(await between(0, 1_200)), 60);
    const again = await send(service, { instance_id, start: START, from: START, to: START + 20 });
    assert.equal((again as { stored: boolean }).stored, false);
  },
});

// Not on each storage: a libSQL server takes no rows of this size.
testOnFile("windows that would be too large as a roll-up are kept and read", async (service) => {
  const instance_id = newInstanceId();
  for (let i = 0; i < 6; i++) {
    const from = START + 10 * i;
    const series = Array.from({ length: 2 }, (_, part): Series => ({
      name: "work_total",
      type: "counter",
      tags: Object.fromEntries(
        Array.from({ length: 50 }, (_, tag) => [`${i}.${part}.${tag}`, "x".repeat(60_000)]),
      ),
      updated_ns: nsFromTs(from + 10),
      total: 1,
    }));
    await send(service, { instance_id, start: START, from, to: from + 10, series });
  }
  assert.deepEqual(await levels(service, instance_id), { 0: 6 });
  const { metrics, errors } = await read(service, `instance_id=${instance_id}&start=${START}`);
  assert.deepEqual(errors, []);
  assert.deepEqual(metrics.length, 12);
});
