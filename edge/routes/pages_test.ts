/** Pages of the list of instances, and its tag filter. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { decode, formatTags, instanceList } from "@service/core";
import { tags } from "../../core/testdata/arbitrary.ts";
import { testOnEachStorage } from "../testing/each_storage.ts";
import { get, newInstanceId, NOW_TS, refused, send, type TestService } from "../testing/api.ts";

interface Page {
  ids: string[];
  next: string | null;
}

async function page(service: TestService, path: string): Promise<Page> {
  const response = await get(service, path);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const ids = instanceList.check(decode(text)).instances.map(({ instance_id }) => instance_id);
  const next = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1] ?? null;
  return { ids, next };
}

async function sendOne(service: TestService, start: number, tags = {}): Promise<string> {
  const instance_id = newInstanceId();
  await send(service, { instance_id, start, from: start, to: start + 10, tags });
  return instance_id;
}

testOnEachStorage({
  async "pages give the whole list once, while new instances start"(service) {
    const ids: string[] = [];
    // Two start at the same time, more than once.
    for (let i = 0; i < 7; i++) {
      ids.unshift(await sendOne(service, NOW_TS - 100 + Math.floor(i / 2)));
    }
    assert.deepEqual(await page(service, "/api/v1/instances"), { ids, next: null });
    const seen: string[] = [];
    let path: string | null = "/api/v1/instances?limit=2";
    while (path !== null) {
      const { ids, next }: Page = await page(service, path);
      assert.ok(ids.length <= 2);
      seen.push(...ids);
      await sendOne(service, NOW_TS - 50);
      path = next;
    }
    assert.deepEqual(seen, ids);
    assert.equal((await page(service, "/api/v1/instances?limit=11")).next, null);
  },

  async "a tag filter selects instances, also by tags that the service adds"(service) {
    const start = NOW_TS - 100;
    const first = await sendOne(service, start, { run: "a:b", user: "x" });
    const two = await sendOne(service, start + 1, { run: "a:b", user: "y", "api_key.name": "no" });
    const list = async (tags: string) =>
      (await page(service, `/api/v1/instances?tags=${encodeURIComponent(tags)}`)).ids;
    assert.deepEqual(await list("run:a:b"), [two, first]);
    assert.deepEqual(await list("run:a:b;user:x"), [first]);
    assert.deepEqual(await list("run:a%3Ab;user:y;"), [two]);
    assert.deepEqual(await list(""), [two, first]);
    assert.deepEqual(await list("run:"), []);
    assert.deepEqual(await list(`instance.id:${two}`), [two]);
    assert.deepEqual(await list("api_key.name:laptop"), [two, first]);
    assert.deepEqual(await list("api_key.name:no"), []);
    assert.deepEqual(await list("project.name:no"), []);
    const many = Array.from({ length: 5_000 }, (_, i) => `k${i}:v`).join(";");
    assert.deepEqual(await list(many), []);
  },

  async "an instance is found by its own tags, as formatTags writes them"(service) {
    let start = NOW_TS - 1_000;
    const property = fc.asyncProperty(tags, async (tags) => {
      const id = await sendOne(service, start++, tags);
      const filter = new URLSearchParams({ tags: formatTags({ ...tags, "instance.id": id }) });
      assert.deepEqual((await page(service, `/api/v1/instances?${filter}`)).ids, [id]);
    });
    await fc.assert(property, { numRuns: 40 });
  },

  async "an invalid parameter is named"(service) {
    const wrong: Record<string, string> = {
      "limit=0": "limit",
      "limit=1.5": "limit",
      "limit=": "limit",
      "limit=1&limit=2": "limit",
      "after=": "after",
      "after=0123456789ab": "after",
      "after=%F0%9F%92%A9": "after",
      "tags=a": "tags",
      "tags=:b": "tags",
      "tags=a:b%25": "tags",
      "tags=a:b;a:c": "tags",
    };
    for (const [query, parameter] of Object.entries(wrong)) {
      const { errors } = await refused(await get(service, `/api/v1/instances?${query}`), 400);
      assert.deepEqual(errors.map((fault) => fault.parameter), [parameter], query);
    }
  },
});
