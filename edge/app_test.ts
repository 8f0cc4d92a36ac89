/** Answers that belong to no route: paths, methods, request ids, failures. */

import assert from "node:assert/strict";
import { testOnFile } from "./testing/each_storage.ts";
import { get, NOW_TS, refused } from "./testing/api.ts";

testOnFile("health needs no key", async (service) => {
  for (const path of ["/health", "/health/"]) {
    const response = await service.request(path);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { status: "ok" });
  }
});

testOnFile("paths answer with a trailing slash too", async (service) => {
  assert.equal((await get(service, "/api/v1/instances/")).status, 200);
  await refused(await get(service, "/api/v1/signals/?start=1"), 400);
});

testOnFile("HEAD is GET without a body", async (service) => {
  const response = await service.request("/health", { method: "HEAD" });
  assert.equal(response.status, 200);
  assert.equal(await response.text(), "");
});

testOnFile("an unknown path is not found", async (service) => {
  await refused(await service.request("/api/v2/signals"), 404);
});

testOnFile("another method is refused with those allowed", async (service) => {
  const response = await service.request("/api/v1/ingest/", { method: "PUT" });
  assert.equal(response.headers.get("allow"), "POST");
  await refused(response, 405);
  const signals = await service.request("/api/v1/signals", { method: "DELETE" });
  assert.equal(signals.headers.get("allow"), "GET, HEAD");
  await refused(signals, 405);
});

testOnFile("each request is logged under the id that its answer carries", async (service) => {
  const response = await service.request("/health");
  const [entry] = service.log;
  assert.ok(entry && "status" in entry);
  assert.equal(entry.status, 200);
  assert.equal(entry.path, "/health");
  assert.equal(entry.id, response.headers.get("x-request-id"));
});

testOnFile("a failure gives an id that the log knows, and none of its message", async (service) => {
  await service.db.write(["DROP TABLE windows"]);
  await service.db.write([{
    sql: `INSERT INTO instances (project, instance_id, key, tags, attributes, profiler_version,
      start_ns, watermark_ns, last_seen_ns, received_ns, listed_ns)
      VALUES (1, 'x', 'laptop', '{}', '{}', '0', 0, 0, 0, 0, 0)`,
    args: [],
  }]);
  const path = `/api/v1/signals?instance_id=x&start=${NOW_TS - 1}`;
  const response = await get(service, path);
  const id = response.headers.get("x-request-id")!;
  const { detail } = await refused(response, 500);
  assert.ok(!detail.includes("windows"));
  const failure = service.log.find((entry) => "stack" in entry);
  assert.ok(failure && "stack" in failure);
  assert.equal(failure.id, id);
  assert.ok(detail.includes(id));
  assert.match(failure.stack, /no such table: windows/);
});
