/** Retention: old windows are deleted in small writes, and instances with their last window. */

import assert from "node:assert/strict";
import { encodeUpload } from "@service/core";
import { LAST_NS, nsFromTs, SECOND_NS } from "@service/core/time";
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
  work,
} from "../testing/api.ts";
import { DAY_NS } from "./levels.ts";
import { maintain } from "./maintenance.ts";
import { purge, PURGE_ROWS } from "./retention.ts";

const START = NOW_TS - 100;

testOnEachStorage({
  async "windows that ended before the instant are removed, later ones stay"(service) {
    const instance_id = newInstanceId();
    for (const from of [START, START + 10, START + 20]) {
      await send(service, { instance_id, from, to: from + 10 });
    }
    assert.equal(await purge(service.db, nsFromTs(START + 20)), true);
    const payload = await read(service, `instance_id=${instance_id}&start=${START + 20}`);
    assert.equal(work(payload), 1);
    assert.deepEqual(payload.errors, []);
  },

  async "a removed window is not accepted again, and the chain continues"(service) {
    const instance_id = newInstanceId();
    await send(service, { instance_id, from: START, to: START + 10 });
    await send(service, { instance_id, from: START + 10, to: START + 20 });
    await purge(service.db, nsFromTs(START + 10));
    const again = await send(service, { instance_id, from: START, to: START + 10 });
    assert.deepEqual(again, { stored: false, watermark_ns: nsFromTs(START + 20) });
    const next = await send(service, { instance_id, from: START + 20, to: START + 30 });
    assert.deepEqual(next, { stored: true, watermark_ns: nsFromTs(START + 30) });
  },
});

testOnEachStorage({
  async "what an instance with a clock ahead has sent is said so, and goes by its receipt"(
    service,
  ) {
    const last = Number(LAST_NS / SECOND_NS);
    const start = last - 100_000;
    const [ahead, before] = [newInstanceId(), newInstanceId()];
    await send(service, { instance_id: ahead, start, from: start, to: start + 10 });
    const errors = [{
      level: "error" as const,
      message: "an entry",
      exception: "",
      log_ns: nsFromTs(last),
    }];
    await send(service, { instance_id: ahead, start, from: start + 10, to: last, errors });
    service.clock.now_ns += SECOND_NS;
    const from = NOW_TS - 10;
    await send(service, { instance_id: before, start: from, from, to: NOW_TS });
    const payload = await read(service, `instance_id=${ahead}&start=${start}`);
    assert.equal(work(payload), 2);
    assert.deepEqual(payload.errors.map(({ message }) => message), [
      `the clock of the instance is ahead: a window that ends at ${last} had arrived by ${NOW_TS} ` +
      "(epoch seconds)",
      "an entry",
    ]);
    const near = await read(service, `instance_id=${before}&start=${from}`);
    assert.deepEqual(near.errors, []);

    const { blocks } = service.service.memory;
    const maintainAt = async (days: bigint) => {
      service.clock.now_ns = nsFromTs(NOW_TS) + days * DAY_NS + SECOND_NS;
      const { now_ns } = service.clock;
      while (!await maintain(service.db, { now_ns, retention_days: 30, blocks }));
    };
    const path = `/api/v1/signals?instance_id=${ahead}&start=${start}`;
    await maintainAt(29n);
    assert.equal(work(await read(service, path.split("?")[1]!)), 2);
    await maintainAt(30n);
    await refused(await get(service, path), 404);
  },
});

testOnFile("an instance goes with its last window, when it is silent too", async (service) => {
  const instance_id = newInstanceId();
  const path = `/api/v1/signals?instance_id=${instance_id}&start=${START}`;
  await send(service, { instance_id, from: START, to: START + 10 });
  await purge(service.db, nsFromTs(START + 10));
  assert.equal((await get(service, path)).status, 200);
  await purge(service.db, service.clock.now_ns + DAY_NS);
  await refused(await get(service, path), 404);
});

testOnFile("one write removes a bounded number of rows", async (service) => {
  const instance_id = newInstanceId();
  await send(service, { instance_id, from: START, to: START + 10 });
  await service.db.write([{
    sql: `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= ?)
      INSERT INTO windows (instance, level, end_ns, from_ns, to_ns, received_ns, digest, block, body)
      SELECT 1, 0, i + 1, i, i + 1, i + 1, x'', 1, x'' FROM n`,
    args: [PURGE_ROWS],
  }]);
  const left = async () =>
    (await service.db.query("SELECT count(*) AS left FROM windows")).rows[0]!.left;
  assert.equal(await purge(service.db, nsFromTs(START)), false);
  assert.equal(await left(), 2n);
  assert.equal(await purge(service.db, nsFromTs(START)), true);
  assert.equal(await left(), 1n);
});

testOnFile("a window late by more than what is kept is taken all the same", async (service) => {
  service.clock.now_ns += 40n * DAY_NS;
  const upload = makeUpload({ instance_id: newInstanceId(), from: START, to: START + 10 });
  assert.equal((await post(service, encodeUpload(upload))).status, 200);
});
