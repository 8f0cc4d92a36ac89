/** A long list of instances: whole without a limit, made while others are answered. */

import assert from "node:assert/strict";
import { decode, instanceList } from "@service/core";
import { testOnEachStorage, testOnFile } from "../testing/each_storage.ts";
import { get, newInstanceId, NOW_TS, send, type TestService } from "../testing/api.ts";

/** Stores copies of an instance under other ids; all ids, the newest first. */
async function sendMany(service: TestService, copies: number, tags = {}): Promise<string[]> {
  const instance_id = newInstanceId();
  await send(service, { instance_id, from: NOW_TS - 100, to: NOW_TS - 90, tags });
  const { rows } = await service.db.query("SELECT name FROM pragma_table_info('instances')");
  const others = rows.map(({ name }) => name as string)
    .filter((name) => !["id", "instance_id"].includes(name)).join();
  await service.db.write([{
    sql: `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
      INSERT INTO instances (instance_id, ${others})
      SELECT printf('%s-%06d', instance_id, i), ${others} FROM instances, n WHERE instance_id = ?`,
    args: [copies, instance_id],
  }]);
  const ids = Array.from(
    { length: copies },
    (_, i) => `${instance_id}-${String(copies - i).padStart(6, "0")}`,
  );
  return [...ids, instance_id];
}

async function idsOf(response: Response): Promise<string[]> {
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return instanceList.check(decode(text)).instances.map(({ instance_id }) => instance_id);
}

testOnEachStorage({
  async "without a limit the list is whole, also while new instances start"(service) {
    const ids = await sendMany(service, 1_000);
    const response = await get(service, "/api/v1/instances");
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal(response.headers.get("link"), null);
    await send(service, { instance_id: newInstanceId(), from: NOW_TS - 100, to: NOW_TS - 90 });
    assert.deepEqual(await idsOf(response), ids);
    const [newest] = await idsOf(await get(service, "/api/v1/instances?limit=1"));
    assert.deepEqual(await idsOf(await get(service, "/api/v1/instances")), [newest, ...ids]);

    const page = await get(service, "/api/v1/instances?limit=300");
    assert.match(page.headers.get("link")!, /limit=300.*rel="next"$/);
    assert.deepEqual(await idsOf(page), [newest, ...ids.slice(0, 299)]);

    const after = `/api/v1/instances?after=${ids[99]}`;
    assert.deepEqual(await idsOf(await get(service, after)), ids.slice(100));
    const earlier = `${after}&start=0&end=${NOW_TS - 101}`;
    assert.deepEqual(await idsOf(await get(service, earlier)), []);
    const head = { method: "HEAD", headers: { "x-api-key": service.key } };
    assert.equal((await service.request("/api/v1/instances", head)).status, 200);
  },

  async "a tag selects from a long list"(service) {
    await sendMany(service, 500);
    const ids = await sendMany(service, 500, { run: "this" });
    assert.deepEqual(await idsOf(await get(service, "/api/v1/instances?tags=run:this")), ids);
    assert.deepEqual(await idsOf(await get(service, "/api/v1/instances?tags=run:none")), []);
  },
});

/** Turns of the event loop during `work`: requests are answered in each. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await work();
  clearInterval(timer);
  return turns;
}

for (
  const [query, expected] of [
    ["", 15],
    ["?tags=run:this", 15],
    ["?tags=run:none", 2],
    ["?tags=run:none&limit=10", 2],
  ] as const
) {
  testOnFile(`a list gives way to other requests (${query})`, async (service) => {
    await sendMany(service, 6_000, { run: "this" });
    const path = `/api/v1/instances${query}`;
    const turns = await turnsDuring(async () => (await get(service, path)).text());
    assert.ok(turns >= expected, `${turns} turns`);
  });
}
