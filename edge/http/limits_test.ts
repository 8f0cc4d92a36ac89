/** Rate limits of keys, and quotas of projects. */

import assert from "node:assert/strict";
import { encodeUpload } from "@service/core";
import { SECOND_NS } from "@service/core/time";
import { temporaryFolder, testOnFile } from "../testing/each_storage.ts";
import {
  get,
  makeUpload,
  newInstanceId,
  newKey,
  NOW_TS,
  post,
  refused,
  send,
  startService,
} from "../testing/api.ts";
import { CACHED_FOR_NS } from "../tenancy/key_cache.ts";
import { listProjects, setQuotas } from "../tenancy/projects.ts";
import { BURST_SECONDS, RateLimit } from "./rate_limit.ts";

const LIST = "/api/v1/instances";
const START = NOW_TS - 100;

const body = (instance_id = newInstanceId()) =>
  encodeUpload(makeUpload({ instance_id, from: START, to: START + 10 }));

Deno.test("a token bucket allows a burst, and refills at its rate", () => {
  let now_ms = 0;
  const limit = new RateLimit({ per_second: 2, now_ms: () => now_ms });
  const taken = (count: number) => Array.from({ length: count }, () => limit.spend("a"));
  assert.deepEqual(new Set(taken(2 * BURST_SECONDS)), new Set([0]));
  assert.equal(limit.spend("a"), 1);
  assert.equal(limit.spend("b"), 0);
  now_ms = 500;
  assert.deepEqual(taken(2), [0, 1]);
  now_ms = 0;
  assert.equal(limit.spend("a"), 1);
  now_ms = 1e9;
  assert.deepEqual(taken(2 * BURST_SECONDS + 1), [...Array(2 * BURST_SECONDS).fill(0), 1]);
});

Deno.test("a key used too often gets 429 and Retry-After; other keys do not wait", async () => {
  using folder = temporaryFolder();
  using service = await startService(folder.url, { reads_per_second: 1, writes_per_second: 1 });
  for (let i = 0; i < BURST_SECONDS; i++) assert.equal((await get(service, LIST)).status, 200);
  const response = await get(service, LIST);
  assert.equal(response.headers.get("retry-after"), "1");
  const { detail } = await refused(response, 429);
  assert.match(detail, /the key may do 1 reads a second, 10 at once; try again in 1 s$/);
  assert.equal((await get(service, LIST, await newKey(service.db))).status, 200);

  for (let i = 0; i < BURST_SECONDS; i++) assert.equal((await post(service, body())).status, 200);
  await refused(await post(service, body()), 429);
  service.clock.now_ns += SECOND_NS;
  assert.equal((await post(service, body())).status, 200);
  await refused(await post(service, body()), 429);
  assert.equal((await get(service, LIST)).status, 200);
});

testOnFile("200 followers of one key, one read each in five seconds, pass", async (service) => {
  for (let second = 0; second < 10; second++) {
    for (let i = 0; i < 40; i++) assert.equal(service.service.limits.read.spend("key"), 0);
    service.clock.now_ns += SECOND_NS;
  }
  await Promise.resolve();
});

testOnFile("each quota of a project has a refusal of its own", async (service) => {
  const project = (await listProjects(service.service.databases, 1n))[0]!.name;
  const set = async (quotas: Parameters<typeof setQuotas>[2]) => {
    await setQuotas(service.db, project, quotas);
    service.clock.now_ns += CACHED_FOR_NS;
  };
  const instance_id = newInstanceId();
  await send(service, { instance_id, from: START, to: START + 10 });

  await set({ max_instances: 1 });
  await send(service, { instance_id, from: START + 10, to: START + 20 });
  const full = await refused(await post(service, body()), 409);
  assert.match(full.detail, /^Cannot accept a new instance: instance_id would be one more than 1,/);
  await set({ max_instances: null });
  assert.equal((await post(service, body())).status, 200);

  await set({ max_series: 0 });
  const series = await refused(await post(service, body()), 422);
  assert.match(series.detail, /window\.series must have at most 0 series, the project's quota/);
  assert.deepEqual(series.errors.map(({ parameter }) => parameter), ["window.series"]);

  await set({ max_series: null, max_body_bytes: 100 });
  const large = await refused(await post(service, body()), 413);
  assert.match(large.detail, /at most 100 bytes as sent/);
});
