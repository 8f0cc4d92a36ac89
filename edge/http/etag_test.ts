/** Entity tags of snapshots that never change. */

import assert from "node:assert/strict";
import { testOnEachStorage } from "../testing/each_storage.ts";
import { get, newInstanceId, NOW_TS, refused, send, type TestService } from "../testing/api.ts";

const START = NOW_TS - 100;

async function start(service: TestService): Promise<string> {
  const instance_id = newInstanceId();
  await send(service, { instance_id, from: START, to: START + 10 });
  await send(service, { instance_id, from: START + 10, to: START + 20 });
  return `/api/v1/signals?instance_id=${instance_id}&start=${START}`;
}

/** The entity tag of an answer; cancels its body. */
async function tagOf(service: TestService, path: string): Promise<string | null> {
  const response = await get(service, path);
  await response.text();
  assert.equal(response.status, 200);
  const tag = response.headers.get("etag");
  const caching = response.headers.get("cache-control");
  assert.equal(caching, tag === null ? "no-store" : "private, max-age=60");
  return tag;
}

const ask = (service: TestService, path: string, tag: string) =>
  service.request(path, { headers: { "x-api-key": service.key, "if-none-match": tag } });

testOnEachStorage({
  async "a final read gets 304 with its tag"(service) {
    const path = `${await start(service)}&end=${START + 20}`;
    const tag = await tagOf(service, path);
    assert.ok(tag);
    for (const given of [tag, `"other", ${tag}`, tag.slice(2), "*"]) {
      const again = await ask(service, path, given);
      assert.equal(again.status, 304, given);
      assert.equal(again.headers.get("etag"), tag);
      assert.equal(again.headers.get("vary"), "Accept-Encoding, X-API-Key");
      assert.equal(await again.text(), "");
    }
    const other = await ask(service, path, '"other"');
    assert.equal(other.status, 200);
    await other.text();
  },

  async "a read that may change has no tag"(service) {
    const path = await start(service);
    assert.equal(await tagOf(service, path), null);
    assert.equal(await tagOf(service, `${path}&end=${START + 21}`), null);
    assert.equal(await tagOf(service, `${path}&start=1`.replace(`start=${START}&`, "")), null);
  },

  async "after the final window any end is final"(service) {
    const path = await start(service);
    const instance_id = new URLSearchParams(path.split("?")[1]).get("instance_id")!;
    await send(service, { instance_id, from: START + 20, to: START + 30, final: true });
    assert.ok(await tagOf(service, `${path}&end=${START + 60}`));
  },

  async "different queries and instances have different tags"(service) {
    const [one, other] = [await start(service), await start(service)];
    const tags = await Promise.all([
      `${one}&end=${START + 20}`,
      `${one}&end=${START + 10}`,
      `${one}&end=${START + 20}&top=1`,
      `${one}&end=${START + 20}&metrics=a`,
      `${other}&end=${START + 20}`,
    ].map((path) => tagOf(service, path)));
    assert.equal(new Set(tags).size, tags.length);
  },

  async "a client without the scope is refused, with any tag"(service) {
    const path = `${await start(service)}&end=${START + 20}`;
    const headers = { "x-api-key": "no", "if-none-match": "*" };
    await refused(await service.request(path, { headers }), 401);
  },
});
