/** Missing windows: reads say what they wait for, pass a gap in time, and tell of what comes late. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeUpload, type Signals } from "@service/core";
import { readWindows } from "@service/core/packed";
import { nsFromTs, SECOND_NS, secondsFromNs } from "@service/core/time";
import { testOnEachStorage, testOnFile } from "../testing/each_storage.ts";
import {
  get,
  makeUpload,
  newInstanceId,
  NOW_TS,
  post,
  read,
  refused,
  send,
  type TestService,
  work,
} from "../testing/api.ts";
import { DAY_NS } from "./levels.ts";
import { maintain } from "./maintenance.ts";

const START = NOW_TS;
const MINUTES = 60n * SECOND_NS;

/** Sends windows of ten seconds by number, each as it ends. */
async function sendEach(service: TestService, instance_id: string, numbers: number[]) {
  for (const i of numbers) {
    const [from, to] = [START + 10 * i, START + 10 * i + 10];
    if (service.clock.now_ns < nsFromTs(to)) service.clock.now_ns = nsFromTs(to);
    await send(service, { instance_id, start: START, from, to });
  }
}

const readAll = (service: TestService, instance_id: string, start: string | number = START) =>
  read(service, `instance_id=${instance_id}&start=${start}`);

const messages = ({ errors }: Signals) => errors.map(({ message }) => message);

/** Paths in what an answer tells of late windows. */
const toldIn = (payload: Signals) =>
  messages(payload).flatMap((message) => /\/api\/v1\/signals\?\S+/.exec(message) ?? []);

async function readPath(service: TestService, path: string): Promise<Signals> {
  return await read(service, path.split("?")[1]!);
}

async function maintainAll({ db, clock, service }: TestService): Promise<void> {
  const { blocks } = service.memory;
  while (!await maintain(db, { now_ns: clock.now_ns, retention_days: 30, blocks }));
}

testOnEachStorage({
  async "a read that waits at a gap says for what, since when and until when"(service) {
    const instance_id = newInstanceId();
    await sendEach(service, instance_id, [0, 2, 3]);
    service.clock.now_ns += 5n * MINUTES;
    const payload = await readAll(service, instance_id);
    assert.equal(payload.payload_ns, nsFromTs(START + 10));
    assert.deepEqual(messages(payload), [
      `reads wait at ${START + 10} for the windows up to ${START + 20}, since ${
        START + 30
      } when a ` +
      `later one arrived, and pass them at ${START + 630} (epoch seconds)`,
    ]);
    assert.deepEqual(messages(await readAll(service, instance_id, START + 15)), messages(payload));
    const before = await read(
      service,
      `instance_id=${instance_id}&start=${START}&end=${START + 10}`,
    );
    assert.deepEqual(before.errors, [], "what is asked for has come");
    const streamed = await get(
      service,
      `/api/v1/windows?instance_id=${instance_id}&start=${START}`,
    );
    const [window] = await Array.fromAsync(readWindows(streamed.body!));
    assert.deepEqual(window!.window.errors, payload.errors);
  },

  async "who waits for the newest window only is told nothing"(service) {
    const instance_id = newInstanceId();
    await sendEach(service, instance_id, [0, 1]);
    service.clock.now_ns += 20n * MINUTES;
    assert.deepEqual((await readAll(service, instance_id)).errors, []);
  },

  async "a read passes a gap when the window behind it has been there for ten minutes"(service) {
    const instance_id = newInstanceId();
    await sendEach(service, instance_id, [0, 2, 3]);
    service.clock.now_ns = nsFromTs(START + 629);
    assert.equal(work(await readAll(service, instance_id)), 1);
    service.clock.now_ns = nsFromTs(START + 630);
    const payload = await readAll(service, instance_id);
    assert.equal(payload.payload_ns, nsFromTs(START + 40));
    assert.equal(work(payload), 3);
    assert.match(messages(payload).join(), new RegExp(`^10 s between ${START + 10} .* never arri`));
    assert.deepEqual((await readAll(service, instance_id, START + 20)).errors, []);
  },

  async "an upload and the maintenance pass a gap too, and all gaps that are old enough"(service) {
    const [uploading, maintained] = [newInstanceId(), newInstanceId()];
    for (const id of [uploading, maintained]) {
      service.clock.now_ns = nsFromTs(START);
      await sendEach(service, id, [0, 2, 4, 6, 80]);
    }
    service.clock.now_ns = nsFromTs(START + 1_000);
    const answer = await send(service, {
      instance_id: uploading,
      start: START,
      from: START + 910,
      to: START + 920,
    });
    assert.deepEqual(answer, { stored: true, watermark_ns: nsFromTs(START + 70) });
    service.clock.now_ns = nsFromTs(START + 4_500);
    await maintainAll(service);
    const { rows: [row] } = await service.db.query({
      sql: "SELECT watermark_ns FROM instances WHERE instance_id = ?",
      args: [maintained],
    });
    assert.equal(row!.watermark_ns, nsFromTs(START + 810));
  },

  async "a window for a passed gap is stored, and the next reads tell the URL that reads it"(
    service,
  ) {
    const instance_id = newInstanceId();
    await sendEach(service, instance_id, [0, 3, 4]);
    service.clock.now_ns += 10n * MINUTES;
    const query = `instance_id=${instance_id}&start=${START}&end=${START + 40}`;
    const before = await get(service, `/api/v1/signals?${query}`);
    await before.text();
    const passed = await readAll(service, instance_id);
    service.clock.now_ns += MINUTES;
    for (let times = 0; times < 2; times++) await sendEach(service, instance_id, [2]);
    const next = await readAll(service, instance_id, secondsFromNs(passed.payload_ns));
    const path = `/api/v1/signals?instance_id=${instance_id}&start=${START + 20}&end=${START + 30}`;
    assert.deepEqual(toldIn(next), [path]);
    assert.equal(next.errors[0]!.log_ns, service.clock.now_ns);
    assert.equal(work(await readPath(service, path)), 1);
    assert.equal(work(await readAll(service, instance_id)), 4);
    await sendEach(service, instance_id, [1]);
    const whole = path.replace(`start=${START + 20}`, `start=${START + 10}`);
    assert.deepEqual(toldIn(await readAll(service, instance_id)), [whole], "a told span grows");
    assert.equal(work(await readPath(service, whole)), 2);
    const after = await get(service, `/api/v1/signals?${query}`);
    await after.text();
    assert.notEqual(before.headers.get("etag"), after.headers.get("etag"));
    await sendEach(service, instance_id, [5]);
    assert.equal(work(await readAll(service, instance_id)), 6);
  },

  async "a final window for a passed gap is refused, and not taken for one that is stored"(
    service,
  ) {
    const instance_id = newInstanceId();
    await sendEach(service, instance_id, [0, 2]);
    service.clock.now_ns += 10n * MINUTES;
    assert.equal(work(await readAll(service, instance_id)), 2);
    const parts = { instance_id, start: START, from: START + 10, to: START + 20 };
    const final = encodeUpload(makeUpload({ ...parts, final: true }));
    assert.match((await refused(await post(service, final), 409)).detail, /final/);
    await sendEach(service, instance_id, [1]);
    assert.equal(work(await readAll(service, instance_id)), 3);
  },

  async "what comes after an outage of days is told to those who read meanwhile"(service) {
    const instance_id = newInstanceId();
    await sendEach(service, instance_id, [0, 1]);
    service.clock.now_ns += 3n * DAY_NS;
    const meanwhile = await readAll(service, instance_id);
    assert.equal(meanwhile.payload_ns, service.clock.now_ns);
    service.clock.now_ns += DAY_NS;
    await maintainAll(service);
    await sendEach(service, instance_id, [2, 3, 4]);
    const next = await readAll(service, instance_id, secondsFromNs(meanwhile.payload_ns));
    assert.deepEqual(next.metrics, []);
    const [path, ...others] = toldIn(next);
    assert.deepEqual(others, []);
    assert.equal(
      path,
      `/api/v1/signals?instance_id=${instance_id}&start=${START + 20}&end=${START + 50}`,
    );
    assert.equal(work(await readPath(service, path)), 3);
  },

  async "a window for a gap is stored after its neighbours were summed up"(service) {
    const instance_id = newInstanceId();
    const numbers = Array.from({ length: 240 }, (_, i) => i).filter((i) => i < 20 || i >= 140);
    await sendEach(service, instance_id, numbers);
    // Of a minute with others, of one without, and after minutes were summed up too.
    for (const [days, late] of [[3n, 19 + 1], [3n, 60], [9n, 130], [9n, 139]] as const) {
      service.clock.now_ns = nsFromTs(START) + days * DAY_NS;
      await maintainAll(service);
      const before = Number(work(await readAll(service, instance_id)));
      for (let times = 0; times < 2; times++) await sendEach(service, instance_id, [late]);
      const payload = await readAll(service, instance_id);
      assert.equal(work(payload), before + 1, `${late} after ${days} days`);
      assert.equal(toldIn(payload).length, 1);
      await maintainAll(service);
      assert.equal(work(await readAll(service, instance_id)), before + 1);
    }
    const other = makeUpload({
      instance_id,
      start: START,
      from: START + 595,
      to: START + 605,
    });
    await refused(await post(service, encodeUpload(other)), 409);
  },

  async "a reader and what it is told of get every window exactly once"(service) {
    const delays = fc.constantFrom(0, 0, 0, 0, 5, 30, 700, 2_000, 90_000, 300_000);
    await fc.assert(
      fc.asyncProperty(
        fc.array(delays, { minLength: 5, maxLength: 12 }),
        async (delays) => {
          const instance_id = newInstanceId();
          const arrivals = delays.map((delay, i) => ({ i, at: START + 10 * i + 10 + delay }))
            .sort((a, b) => a.at - b.at);
          let next = secondsFromNs(nsFromTs(START));
          let sum = 0;
          const follow = async () => {
            const payload = await readAll(service, instance_id, next);
            next = secondsFromNs(payload.payload_ns);
            sum += Number(work(payload));
            return payload;
          };
          for (const { i, at } of arrivals) {
            service.clock.now_ns = nsFromTs(at);
            if (at > arrivals[0]!.at) await follow();
            await sendEach(service, instance_id, [i]);
            await follow();
          }
          service.clock.now_ns += 2n * DAY_NS;
          const last = await follow();
          for (const path of toldIn(last)) sum += Number(work(await readPath(service, path)));
          assert.equal(sum, delays.length);
          assert.equal(work(await readAll(service, instance_id)), delays.length);
        },
      ),
      { numRuns: 15 },
    );
  },
});

testOnFile("a read waits on where a passed gap cannot be noted", async (service) => {
  const instance_id = newInstanceId();
  await sendEach(service, instance_id, [0, 2]);
  service.clock.now_ns += 20n * MINUTES;
  const { write } = service.db;
  service.db.write = () => Promise.reject(new Error("the disk is full"));
  assert.equal(work(await readAll(service, instance_id)), 1);
  service.db.write = write;
  assert.equal(work(await readAll(service, instance_id)), 2);
});

testOnFile("a read over a gap reads roll-ups, as one without a gap does", async (service) => {
  const rowsOf = async (numbers: number[]) => {
    const instance_id = newInstanceId();
    service.clock.now_ns = nsFromTs(START);
    await sendEach(service, instance_id, numbers);
    const before = service.service.metrics.rows;
    const payload = await readAll(service, instance_id);
    assert.equal(work(payload), numbers.length);
    return service.service.metrics.rows - before;
  };
  const all = Array.from({ length: 500 }, (_, i) => i);
  const [whole, gap] = [await rowsOf(all), await rowsOf(all.filter((i) => i !== 1))];
  assert.ok(gap <= whole + 20, `${gap} rows, ${whole} without the gap`);
});
