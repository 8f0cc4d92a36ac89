/** API keys: their form, their storage, their refusal. */

import assert from "node:assert/strict";
import { temporaryFolder, testOnEachStorage } from "../testing/each_storage.ts";
import { get, post, refused, startService } from "../testing/api.ts";
import { CACHED_FOR_NS } from "./key_cache.ts";
import { isKey, makeKey, prefixOf } from "./keys.ts";
import { revokeKey } from "./projects.ts";

Deno.test("a key starts with its prefix and matches only its own hash", () => {
  const { key, prefix, hash } = makeKey();
  assert.match(key, /^svc_[0-9a-f]{8}_[0-9a-f]{40}$/);
  assert.equal(prefixOf(key), prefix);
  assert.ok(isKey(key, hash.buffer));
  assert.ok(!isKey(makeKey().key, hash.buffer));
  assert.ok(!isKey(key, null));
});

Deno.test("a text that is not a key has no prefix", () => {
  const { key } = makeKey();
  for (const given of ["", "svc_", key.slice(1), key.slice(0, -1), `${key}0`, ` ${key}`]) {
    assert.equal(prefixOf(given), null, given);
  }
});

Deno.test("the secret is not in the database", async () => {
  using folder = temporaryFolder();
  let key;
  {
    using service = await startService(folder.url);
    assert.equal((await get(service, "/api/v1/instances")).status, 200);
    key = service.key;
  }
  for (const { name } of Deno.readDirSync(folder.path)) {
    const bytes = new TextDecoder("latin1").decode(Deno.readFileSync(`${folder.path}/${name}`));
    assert.ok(!bytes.includes(key.slice(-40)), name);
  }
});

testOnEachStorage({
  async "a missing, malformed, unknown or revoked key gets the same answer"(service) {
    const { key } = service;
    assert.equal((await get(service, "/api/v1/instances")).status, 200);
    assert.ok(await revokeKey(service.db, prefixOf(key)!, 1n));
    service.clock.now_ns += CACHED_FOR_NS;
    const sameSpecies = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
    const paths = ["/api/v1/instances", "/api/v1/signals", "/api/v1/signals?instance_id=x&start=1"];
    const documents = new Set<string>();
    for (const given of ["", "Bearer x", makeKey().key, sameSpecies, key]) {
      for (const path of paths) {
        documents.add(JSON.stringify(await refused(await get(service, path, given), 401)));
      }
      documents.add(JSON.stringify(await refused(await post({ ...service, key: given }, ""), 401)));
    }
    documents.add(JSON.stringify(await refused(await service.request("/api/v1/signals"), 401)));
    assert.equal(documents.size, 1);
  },
});
