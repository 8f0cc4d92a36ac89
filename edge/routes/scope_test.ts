/** Scopes, expiry and rotation of keys. */

import assert from "node:assert/strict";
import { encodeUpload } from "@service/core";
import { SECOND_NS } from "@service/core/time";
import { testOnEachStorage, testOnFile } from "../testing/each_storage.ts";
import { get, makeUpload, newInstanceId, NOW_TS, post, refused, send } from "../testing/api.ts";
import { CACHED_FOR_NS } from "../tenancy/key_cache.ts";
import { prefixOf } from "../tenancy/keys.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "../tenancy/projects.ts";

const LIST = "/api/v1/instances";
const START = NOW_TS - 100;
const making = () => ({ project: crypto.randomUUID(), name: "k", now_ns: 1n });
const body = () =>
  encodeUpload(makeUpload({ instance_id: newInstanceId(), from: START, to: START + 10 }));

testOnEachStorage({
  async "a key with the scope read cannot write, and the refusal says so"(service) {
    const key = await createKey(service.db, { ...making(), scopes: ["read"] });
    assert.equal((await get(service, LIST, key)).status, 200);
    const { detail, errors } = await refused(await post({ ...service, key }, body()), 403);
    assert.match(detail, /^Cannot write: the key svc_\w{8} lacks the scope write: it has read$/);
    assert.deepEqual(errors.map(({ parameter }) => parameter), ["X-API-Key"]);
  },

  async "a key with the scope write cannot read, and the refusal says so"(service) {
    const key = await createKey(service.db, { ...making(), scopes: ["write"] });
    assert.equal((await post({ ...service, key }, body())).status, 200);
    const { detail } = await refused(await get(service, LIST, key), 403);
    assert.match(detail, /lacks the scope read/);
  },

  async "a key is valid until it expires"(service) {
    const expires_ns = service.clock.now_ns + SECOND_NS;
    const key = await createKey(service.db, { ...making(), expires_ns });
    assert.equal((await get(service, LIST, key)).status, 200);
    service.clock.now_ns = expires_ns;
    await refused(await get(service, LIST, key), 401);
  },

  async "a rotated key is valid until the overlap ends, and the new key after it too"(service) {
    const { clock } = service;
    const making_this = making();
    const old = await createKey(service.db, { ...making_this, scopes: ["read"] });
    const rotation = { prefix: prefixOf(old)!, overlap_ns: 60n * SECOND_NS, now_ns: clock.now_ns };
    const young = await rotateKey(service.db, rotation);
    assert.ok(young && young !== old);
    for (const key of [old, young]) assert.equal((await get(service, LIST, key)).status, 200);
    clock.now_ns += 60n * SECOND_NS;
    await refused(await get(service, LIST, old), 401);
    assert.equal((await get(service, LIST, young)).status, 200);
    await refused(await post({ ...service, key: young }, body()), 403);
    assert.equal(await rotateKey(service.db, { ...rotation, now_ns: clock.now_ns }), null);
    const [before, after] = (await listKeys(service.db)).filter(({ project }) =>
      project === making_this.project
    );
    assert.deepEqual([before!.name, before!.scopes], [after!.name, after!.scopes]);
  },
});

testOnFile("a key that was looked up is cached for five seconds", async (service) => {
  assert.equal((await get(service, LIST)).status, 200);
  await revokeKey(service.db, prefixOf(service.key)!, 1n);
  service.clock.now_ns += CACHED_FOR_NS - 1n;
  assert.equal((await get(service, LIST)).status, 200);
  service.clock.now_ns += 1n;
  await refused(await get(service, LIST), 401);
});

testOnFile("a request with a cached key needs no look-up", async (service) => {
  await send(service, { instance_id: "0123456789ab", from: START, to: START + 10 });
  await service.db.write(["ALTER TABLE keys RENAME TO hidden"]);
  assert.equal((await get(service, LIST)).status, 200);
});

testOnFile(
  "the last use of a key is stored later, and the newest is kept",
  async (service) => {
    const { keys } = service.service;
    const lastUse = async () => (await listKeys(service.db))[0]!.last_used_ns;
    const first = service.clock.now_ns;
    await get(service, LIST);
    assert.equal(await lastUse(), null);
    await keys.storeLastUse();
    assert.equal(await lastUse(), first);
    service.clock.now_ns = first - 1n;
    await get(service, LIST);
    await keys.storeLastUse();
    assert.equal(await lastUse(), first);
  },
);
