/** The operator's routes, the counters and the log. */

import assert from "node:assert/strict";
import { decode } from "@service/core";
import { temporaryFolder, testOnFile } from "./testing/each_storage.ts";
import {
  ADMIN_TOKEN,
  get,
  newInstanceId,
  NOW_TS,
  post,
  refused,
  send,
  startService,
  type TestService,
} from "./testing/api.ts";
import { prefixOf } from "./tenancy/keys.ts";

const LIST = "/api/v1/instances";
const START = NOW_TS - 100;

async function admin(
  service: TestService,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const response = await service.request(`/api/v1/admin/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return decode(text) as Record<string, unknown>;
}

testOnFile("a key is created, listed, rotated and revoked over HTTP, at once", async (service) => {
  const created = await admin(service, "POST", "keys", {
    project: "new",
    name: "ci",
    expires_in: "1h",
  });
  const key = created.key as string;
  assert.equal((await get(service, LIST, key)).status, 200);
  const { keys } = await admin(service, "GET", "keys") as { keys: Record<string, unknown>[] };
  const listed = keys.find(({ prefix }) => prefix === prefixOf(key))!;
  assert.deepEqual([listed.name, listed.project, listed.scopes], ["ci", "new", ["read", "write"]]);
  const rotation = { overlap: "0s" };
  const { key: young } = await admin(service, "POST", `keys/${prefixOf(key)}/rotate`, rotation);
  await refused(await get(service, LIST, key), 401);
  assert.equal((await get(service, LIST, young as string)).status, 200);
  await admin(service, "DELETE", `keys/${prefixOf(young as string)}`);
  await refused(await get(service, LIST, young as string), 401);
});

testOnFile("a project is created, limited and moved over HTTP, at once", async (service) => {
  using folder = temporaryFolder();
  assert.deepEqual(await admin(service, "POST", "projects", { name: "p" }), { created: true });
  assert.deepEqual(await admin(service, "POST", "projects", { name: "p" }), { created: false });
  const { key } = await admin(service, "POST", "keys", { project: "p" }) as { key: string };
  const parts = { instance_id: newInstanceId(), from: START, to: START + 10 };
  await send({ ...service, key }, parts);
  await admin(service, "PATCH", "projects/p", { max_body_bytes: 10 });
  await refused(await post({ ...service, key }, "x".repeat(20)), 413);
  await admin(service, "PATCH", "projects/p", { max_body_bytes: null });
  await admin(service, "POST", "projects/p/move", { to: folder.url });
  await send({ ...service, key }, { ...parts, from: START + 10, to: START + 20 });
  const { projects } = await admin(service, "GET", "projects") as { projects: unknown[] };
  assert.deepEqual({ ...projects[1] as object, created_ns: 0 }, {
    name: "p",
    created_ns: 0,
    database: folder.url,
    keys: 1,
    instances: 1,
    max_instances: null,
    max_series: null,
    max_body_bytes: null,
  });
});

Deno.test("without an admin token the operator's routes get 404", async () => {
  using folder = temporaryFolder();
  using service = await startService(folder.url, { admin_token: undefined });
  for (const path of ["/metrics", "/api/v1/admin/keys"]) {
    const headers = { authorization: "Bearer undefined" };
    await refused(await service.request(path, { headers }), 404);
  }
});

testOnFile("the counters count requests, windows and rows", async (service) => {
  const parts = { instance_id: newInstanceId(), from: START, to: START + 10 };
  await send(service, parts);
  await send(service, parts);
  await refused(await post(service, "{}"), 400);
  await get(service, LIST);
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const text = await (await service.request("/metrics", { headers })).text();
  for (
    const line of [
      'service_requests_total{route="/api/v1/ingest",status="200"} 2',
      'service_requests_total{route="/api/v1/ingest",status="400"} 1',
      'service_request_seconds_count{route="/api/v1/instances"} 1',
      'service_request_seconds_bucket{route="/api/v1/instances",le="+Inf"} 1',
      'service_windows_total{outcome="stored"} 1',
      'service_windows_total{outcome="duplicate"} 1',
      'service_windows_total{outcome="refused"} 1',
      "service_write_queue_depth 0",
      'service_database_errors_total{outcome="failed"} 0',
    ]
  ) assert.ok(text.includes(`${line}\n`), `${line} in\n${text}`);
  assert.match(text, /^service_rows_read_total [1-9]\d*$/m);
});

testOnFile(
  "a request is logged with its cost and its key's prefix, without the key",
  async (service) => {
    const instance_id = newInstanceId();
    await send(service, { instance_id, from: START, to: START + 10 });
    const response = await get(
      service,
      `/api/v1/signals/?instance_id=${instance_id}&start=${START}`,
    );
    const bytes = (await response.arrayBuffer()).byteLength;
    const entry = service.log.at(-1)!;
    assert.ok("rows" in entry);
    assert.equal(entry.route, "/api/v1/signals");
    assert.equal(entry.status, 200);
    assert.equal(entry.bytes, bytes);
    assert.ok(entry.rows >= 2);
    assert.equal(entry.key, prefixOf(service.key));
    assert.ok(!JSON.stringify(service.log).includes(service.key));
  },
);

testOnFile(
  "every answer has a request id, and headers against caching and sniffing",
  async (service) => {
    for (
      const [path = "", key] of [["/health", ""], ["/none", ""], [LIST, service.key], [LIST, "x"]]
    ) {
      const response = await get(service, path, key);
      await response.text();
      const { headers } = response;
      assert.match(headers.get("x-request-id")!, /^[\w-]{8,}$/, path);
      assert.equal(headers.get("x-content-type-options"), "nosniff", path);
      assert.equal(headers.get("cache-control"), "no-store", path);
      assert.match(headers.get("content-security-policy")!, /^default-src 'none'/, path);
    }
    const given = { "x-request-id": "trace-0123456789" };
    const kept = await service.request("/health", { headers: given });
    assert.equal(kept.headers.get("x-request-id"), given["x-request-id"]);
    const odd = await service.request("/health", { headers: { "x-request-id": "a b\tc" } });
    assert.notEqual(odd.headers.get("x-request-id"), "a b\tc");
  },
);
