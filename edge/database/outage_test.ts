/** Databases that do not answer: requests get 503, and other projects are served. */

import assert from "node:assert/strict";
import { encodeUpload } from "@service/core";
import { startServer, temporaryFolder, testOnFile, testOnServer } from "../testing/each_storage.ts";
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
  work,
} from "../testing/api.ts";
import { openDatabases } from "./databases.ts";
import { createKey, createProject } from "../tenancy/projects.ts";

const START = NOW_TS - 100;

for (const scheme of ["http", "ws"]) {
  testOnServer(
    `while a server (${scheme}) is away requests are to be sent again; then all works`,
    async () => {
      await using server = await startServer();
      using service = await startService(server.url.replace("http", scheme));
      const instance_id = newInstanceId();
      const query = `instance_id=${instance_id}&start=${START}`;
      const next = encodeUpload(makeUpload({ instance_id, from: START + 10, to: START + 20 }));
      await send(service, { instance_id, from: START, to: START + 10 });

      await server.kill();
      const answers = [
        await get(service, "/api/v1/instances"),
        await get(service, `/api/v1/signals?${query}`),
        await post(service, next),
        await service.request("/health"),
      ];
      for (const answer of answers) {
        assert.equal(answer.headers.get("retry-after"), "5");
        await refused(answer, 503);
      }

      await server.start();
      assert.equal((await service.request("/health")).status, 200);
      assert.equal((await post(service, next)).status, 200);
      assert.equal(work(await read(service, query)), 2);
    },
  );
}

Deno.test("an unreachable server of a project does not affect other projects", async () => {
  using folder = temporaryFolder();
  using service = await startService(folder.url);
  const making = { project: "away", name: "k", now_ns: 1n, database_url: "http://127.0.0.1:1" };
  const key = await createKey(service.db, making);
  await refused(await get(service, "/api/v1/instances", key), 503);
  const { databases } = service.service;
  assert.equal(await createProject(databases, { name: "away", now_ns: 1n }), false);
  assert.equal((await get(service, "/api/v1/instances")).status, 200);
});

testOnFile("health does not wait for a database that never answers", async (service) => {
  const { control } = service.service.databases;
  const hanging = Promise.withResolvers<never>();
  control.query = () => hanging.promise;
  const response = await service.request("/health");
  assert.equal(response.headers.get("retry-after"), "5");
  await refused(response, 503);
});

Deno.test("databases of projects are opened on use, and idle ones are closed beyond a limit", async () => {
  using folder = temporaryFolder();
  const url = folder.url;
  await using databases = await openDatabases({ url, max_open: 2 });
  const beside = (id: bigint) => databases.lease({ id, database_url: "beside" });
  let before;
  {
    using first = await beside(1n);
    before = first;
    using again = await beside(1n);
    // A temporary table shows whether the connection is the same.
    await first.write(["CREATE TEMP TABLE shared (n INTEGER)"]);
    assert.equal((await again.query("SELECT * FROM shared")).rows.length, 0);
    for (const id of [2n, 3n, 4n]) {
      using _ = await beside(id);
    }
    // It is in use.
    await first.query("SELECT * FROM windows");
  }
  databases.closeIdle(0);
  await Promise.resolve();
  await assert.rejects(before.query("SELECT 1"), /closed/i);
  using again = await beside(1n);
  await again.query("SELECT * FROM windows");
  const files = [...Deno.readDirSync(`${folder.path}/service.db.projects`)]
    .map(({ name }) => name).filter((name) => name.endsWith(".db"));
  assert.deepEqual(files.sort(), ["1.db", "2.db", "3.db", "4.db"]);
});
