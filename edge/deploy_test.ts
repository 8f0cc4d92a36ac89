/** The hosted API as Deno Deploy runs it. */

import assert from "node:assert/strict";
import { encodeUpload } from "@service/core";
import { runScript, startProcess } from "./testing/process.ts";
import { startServer, temporaryFolder, testOnServer } from "./testing/each_storage.ts";
import { makeUpload, newInstanceId, startService } from "./testing/api.ts";
import { openDatabase } from "./database/database.ts";
import { MIGRATIONS } from "./database/migrations.ts";
import { createProject } from "./tenancy/projects.ts";

testOnServer(
  "as on Deno Deploy, it ends after a signal, with all accepted windows stored",
  async () => {
    await using server = await startServer();
    using service = await startService(server.url);
    await using process = await startProcess(server.url, { like: "deploy" });
    const headers = { "x-api-key": service.key, "content-type": "application/json" };
    const start = Math.floor(Date.now() / 1000) - 100_000;
    const begun = Promise.withResolvers<void>();
    const uploading = Promise.all(Array.from({ length: 4 }, async () => {
      const instance_id = newInstanceId();
      for (let sent = 0;; sent++) {
        const from = start + sent;
        const body = encodeUpload(makeUpload({ instance_id, start, from, to: from + 1 }));
        try {
          const response = await fetch(`${process.url}/api/v1/ingest`, {
            method: "POST",
            headers,
            body,
          });
          assert.equal(response.status, 200, await response.text());
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
          return { instance_id, sent };
        }
        if (sent === 20) begun.resolve();
      }
    }));
    await begun.promise;
    // This request never ends, but the process does.
    using _upload = await beginUpload(process.url, service.key);
    assert.equal(await process.stop("SIGINT"), 0);
    for (const { instance_id, sent } of await uploading) {
      const { rows } = await service.db.query({
        sql: `SELECT count(*) AS count FROM windows
        WHERE instance = (SELECT id FROM instances WHERE instance_id = ?)`,
        args: [instance_id],
      });
      // One more window may be stored: its answer was lost.
      const lost = Number(rows[0]!.count) - sent;
      assert.ok(lost === 0 || lost === 1, `${sent} acknowledged, ${rows[0]!.count} stored`);
    }
  },
);

Deno.test("before a deployment, all databases are migrated to the newest schema", async () => {
  using folder = temporaryFolder();
  {
    using service = await startService(folder.url);
    await createProject(service.service.databases, { name: "p", now_ns: 1n });
  }
  const beside = `${folder.url}.projects/2.db`;
  {
    using db = await openDatabase({ url: beside });
    const tables = ["write_blocks", "windows", "instances", "keys", "projects"];
    const { rows } = await db.query("SELECT name FROM sqlite_schema WHERE type = 'table'");
    const others = rows.map(({ name }) => name as string)
      .filter((name) => !["schema", ...tables].includes(name) && !name.startsWith("sqlite_"));
    const drops = [...others, ...tables].map((table) => `DROP TABLE ${table}`);
    await db.write([...drops, "DELETE FROM schema"]);
  }
  const env = { SERVICE_DATABASE_URL: folder.url };
  assert.deepEqual(await runScript("./migrate.ts", [], env), { code: 0, stdout: "", stderr: "" });
  using db = await openDatabase({ url: beside });
  const { rows } = await db.query("SELECT max(version) AS version FROM schema");
  assert.equal(Number(rows[0]!.version), MIGRATIONS.length);
});

/** An upload that never ends: the service must not wait for it. */
async function beginUpload(url: string, key: string): Promise<Disposable> {
  const { hostname, port, host } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const head = [
    "POST /api/v1/ingest HTTP/1.1",
    `host: ${host}`,
    `x-api-key: ${key}`,
    "content-type: application/json",
    "content-length: 100",
    "expect: 100-continue",
  ];
  await connection.write(new TextEncoder().encode(`${head.join("\r\n")}\r\n\r\n`));
  const answer = new Uint8Array(64);
  await connection.read(answer);
  assert.match(new TextDecoder().decode(answer), /^HTTP\/1\.1 100 Continue/);
  return connection;
}
