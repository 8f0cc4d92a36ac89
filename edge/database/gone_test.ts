/** Databases that were made before and are gone: 503 with the reason, and nothing is made anew. */

import assert from "node:assert/strict";
import { encodeUpload } from "@service/core";
import {
  get,
  makeUpload,
  newInstanceId,
  NOW_TS,
  post,
  read,
  refused,
  send,
  startService,
  type TestService,
  work,
} from "../testing/api.ts";
import { startServer, temporaryFolder, testOnServer } from "../testing/each_storage.ts";
import { runScript } from "../testing/process.ts";
import { createKey, createProject, listProjects, revokeKey } from "../tenancy/projects.ts";
import { CACHED_FOR_NS } from "../tenancy/key_cache.ts";
import { openDatabases, SIBLING_FILE } from "./databases.ts";

const START = NOW_TS - 100;

/** A service with an instance in a project of its own database. */
async function startOwned(url: string, database_url: string = SIBLING_FILE) {
  const service = await startService(url);
  const { databases } = service.service;
  await createProject(databases, { name: "own", now_ns: 1n, database_url });
  const key = await createKey(service.db, { project: "own", name: "k", now_ns: 1n });
  const instance_id = newInstanceId();
  await send({ ...service, key }, { instance_id, from: START, to: START + 10 });
  const query = `instance_id=${instance_id}&start=${START}`;
  const next = encodeUpload(makeUpload({ instance_id, from: START + 10, to: START + 20 }));
  return { ...service, key, query, next, [Symbol.dispose]: () => service[Symbol.dispose]() };
}

type Owned = Awaited<ReturnType<typeof startOwned>>;

async function expectGone(owned: Owned, service: TestService): Promise<void> {
  const asked = { ...service, key: owned.key };
  for (
    const answer of [
      await get(asked, `/api/v1/signals?${owned.query}`),
      await get(asked, "/api/v1/instances"),
      await post(asked, owned.next),
    ]
  ) {
    assert.equal(answer.headers.get("retry-after"), "5");
    assert.match((await refused(answer, 503)).detail, /is gone.*restored/);
  }
  const stacks = service.log.flatMap((entry) => "stack" in entry ? [entry.stack] : []);
  assert.match(stacks.at(-1)!, /Cannot use the database \S+: it is gone/);
  assert.equal((await get(service, "/api/v1/instances")).status, 200, "another project");
}

async function expectBack(owned: Owned, service: TestService): Promise<void> {
  const asked = { ...service, key: owned.key };
  assert.equal((await service.request("/health")).status, 200);
  assert.equal(work(await read(asked, owned.query)), 1);
  assert.equal((await post(asked, owned.next)).status, 200);
  assert.equal(work(await read(asked, owned.query)), 2);
}

/** Ways in which a file is gone; each gives the way back. */
const LOSSES: Record<string, (path: string) => () => void> = {
  "its file": (path) => {
    Deno.renameSync(path, `${path}.away`);
    return () => Deno.renameSync(`${path}.away`, path);
  },
  "its folder, as of a disk that is not mounted": (path) => {
    const folder = path.slice(0, path.lastIndexOf("/"));
    Deno.renameSync(folder, `${folder}.away`);
    return () => Deno.renameSync(`${folder}.away`, folder);
  },
  "its content": (path) => {
    Deno.renameSync(path, `${path}.away`);
    Deno.writeFileSync(path, new Uint8Array());
    return () => Deno.renameSync(`${path}.away`, path);
  },
};

for (const [what, lose] of Object.entries(LOSSES)) {
  Deno.test(`a project that has lost ${what} is not made anew, and is served again with it`, async () => {
    using folder = temporaryFolder();
    const owned = await startOwned(folder.url);
    const { id } = (await owned.db.query("SELECT id FROM projects WHERE name = 'own'")).rows[0]!;
    const path = `${folder.path}/service.db.projects/${id}.db`;

    // While it is open.
    const restore = lose(path);
    await expectGone(owned, { ...owned, key: await otherKey(owned) });
    const { detail } = await refused(await owned.request("/health"), 503);
    assert.match(detail, new RegExp(`^The database of project ${id} is gone`));
    const [, listed] = await listProjects(owned.service.databases, 1n);
    assert.equal(listed!.instances, null);
    owned[Symbol.dispose]();

    // From the start of a service.
    using service = await startService(folder.url);
    await expectGone(owned, service);
    await refused(await service.request("/health"), 503);
    const migrated = await runScript("migrate.ts", [], { SERVICE_DATABASE_URL: folder.url });
    assert.equal(migrated.code, 1);
    assert.match(migrated.stderr, /^Cannot use the database \S+: it is gone.*\(project \d+\)\n$/);

    restore();
    await expectBack(owned, service);
  });
}

async function otherKey({ db }: TestService): Promise<string> {
  return await createKey(db, { project: "other", name: "k", now_ns: 1n });
}

Deno.test("a project whose file was replaced while it was open is read from the new one", async () => {
  using folder = temporaryFolder();
  using owned = await startOwned(folder.url);
  const { id } = (await owned.db.query("SELECT id FROM projects WHERE name = 'own'")).rows[0]!;
  const path = `${folder.path}/service.db.projects/${id}.db`;
  using lease = await owned.service.databases.lease({ id: id as bigint, database_url: "beside" });
  await lease.query(`VACUUM INTO '${path}.backup'`);
  assert.equal((await post(owned, owned.next)).status, 200);
  for (const end of ["-wal", "-shm"]) Deno.removeSync(path + end);
  Deno.renameSync(`${path}.backup`, path);
  await assert.rejects(lease.query("SELECT 1"), { name: "GoneError" });
  await expectBack(owned, owned);
});

Deno.test("a project without a valid key does not make the service ill", async () => {
  using folder = temporaryFolder();
  using owned = await startOwned(folder.url);
  const { id } = (await owned.db.query("SELECT id FROM projects WHERE name = 'own'")).rows[0]!;
  Deno.removeSync(`${folder.path}/service.db.projects/${id}.db`);
  await refused(await owned.request("/health"), 503);
  await revokeKey(owned.db, owned.key.slice(0, 12), 1n);
  assert.equal((await owned.request("/health")).status, 200);
});

Deno.test("a database of keys that is gone is not made anew beside files of projects", async () => {
  using folder = temporaryFolder();
  using owned = await startOwned(folder.url);
  Deno.renameSync(`${folder.path}/service.db`, `${folder.path}/away`);
  assert.match((await refused(await owned.request("/health"), 503)).detail, /is gone/);
  owned.clock.now_ns += CACHED_FOR_NS;
  await refused(await get(owned, "/api/v1/instances"), 503);
  await assert.rejects(openDatabases({ url: folder.url }), { name: "GoneError" });
  assert.throws(() => Deno.statSync(`${folder.path}/service.db`), Deno.errors.NotFound);
});

testOnServer("a project whose server has lost its data is not made anew", async () => {
  using folder = temporaryFolder();
  await using server = await startServer();
  using owned = await startOwned(folder.url, server.url);
  await server.kill();
  Deno.renameSync(server.path, `${server.path}.away`);
  await server.start();
  const other = { ...owned, key: await otherKey(owned) };
  await expectGone(owned, other);
  owned.service.databases.closeIdle(0);
  await expectGone(owned, other);

  await server.kill();
  Deno.removeSync(server.path, { recursive: true });
  Deno.renameSync(`${server.path}.away`, server.path);
  await server.start();
  await expectBack(owned, owned);
});
