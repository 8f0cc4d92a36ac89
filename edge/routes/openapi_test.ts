/** The API's document, compared with what the service answers. */

import assert from "node:assert/strict";
import { encodeUpload, type Series } from "@service/core";
import { PACKED_TYPE } from "@service/core/packed";
import { nsFromTs } from "@service/core/time";
import { assertDescribed, assertFits, checkOf, paths } from "../testing/described.ts";
import { testOnFile } from "../testing/each_storage.ts";
import {
  accepted,
  ADMIN_TOKEN,
  get,
  makeUpload,
  newInstanceId,
  NOW_TS,
  pack,
  post,
  send,
  type TestService,
} from "../testing/api.ts";
import { JSON_TYPE } from "../http/body.ts";
import { createApp } from "../app.ts";
import { createKey } from "../tenancy/projects.ts";

/** Answers that have their own tests. */
const PASSING = ["429", "500", "503"];

testOnFile(
  "the document has the paths and methods that the app answers, and no others",
  (service) => {
    const { routes } = createApp(service.service, () => {});
    const answered = routes
      .filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
    );
    assert.deepEqual(described.sort(), answered.sort());
    return Promise.resolve();
  },
);

Deno.test("every parameter and answer has a description, and examples match their schemas", () => {
  for (
    const { parameters = [], responses } of Object.values(paths).flatMap((methods) =>
      Object.values(methods)
    )
  ) {
    for (const { name, description, schema } of parameters) {
      assert.ok(description, name);
      assert.ok(checkOf(schema), name);
    }
    for (const [status, { description, content }] of Object.entries(responses)) {
      assert.ok(description, status);
      for (const { schema, example } of Object.values(content)) {
        assert.ok(checkOf(schema), status);
        if (example !== undefined) assertFits(schema, example);
      }
    }
  }
});

testOnFile("what the app answers fits what the document says", async (service) => {
  const seen = new Set<string>();
  const expect = async (route: string, response: Response | Promise<Response>) => {
    const [method, path] = route.split(" ") as [string, string];
    const status = await assertDescribed(path, method, await response);
    seen.add(`${route} ${status}`);
  };
  const instance_id = newInstanceId();
  const from = NOW_TS - 100;
  const upload = encodeUpload(makeUpload({ instance_id, from, to: from + 10 }));
  assertFits({ $ref: "#/components/schemas/Upload" }, JSON.parse(upload));
  const project = "other";
  const making = { project, name: "k", now_ns: 1n };
  const reader = await createKey(service.db, { ...making, scopes: ["read"] });
  const writer = await createKey(service.db, { ...making, scopes: ["write"] });

  await expect("get /health", service.request("/health"));
  await expect("get /openapi.json", service.request("/openapi.json"));

  const { project: own } = await accepted(post(service, upload));
  const packed = await pack(makeUpload({ instance_id: newInstanceId(), from, to: from + 10 }));
  const ingests = { "post /api/v1/ingest": "", "post /api/v1/ingest/{project}": `/${own}` };
  for (const [ingest, into] of Object.entries(ingests)) {
    await expect(ingest, post(service, upload, {}, into));
    await expect(ingest, post(service, "{}", {}, into));
    await expect(ingest, post(service, '{"format":2}', {}, into));
    await expect(ingest, post({ ...service, key: "" }, upload, {}, into));
    await expect(ingest, post({ ...service, key: reader }, upload, {}, into));
    await expect(ingest, post({ ...service, key: writer }, upload, {}, into));
    await expect(ingest, post(service, upload.replace("box", "other"), {}, into));
    await expect(ingest, post(service, new Uint8Array(9 * 2 ** 20), {}, into));
    const type = { "content-type": PACKED_TYPE };
    await expect(ingest, post(service, packed.window.bytes, type, into));
  }

  const list = "get /api/v1/instances";
  await expect(list, get(service, "/api/v1/instances"));
  await expect(list, get(service, "/api/v1/instances?start=x"));
  await expect(list, get(service, "/api/v1/instances", ""));
  await expect(list, get(service, "/api/v1/instances", writer));

  const read = "get /api/v1/signals";
  const query = `/api/v1/signals?instance_id=${instance_id}&start=${from}`;
  await expect(read, get(service, query));
  await expect(read, get(service, "/api/v1/signals"));
  await expect(read, get(service, "/api/v1/signals?instance_id=x&start=1"));
  await expect(read, get(service, query, ""));
  await expect(read, get(service, query, writer));
  const headers = { "x-api-key": service.key, "if-none-match": "*" };
  await expect(read, service.request(`${query}&end=${from + 10}`, { headers }));

  const stream = "get /api/v1/windows";
  const windows = `/api/v1/windows?instance_id=${instance_id}&start=${from}`;
  await expect(stream, get(service, windows));
  await expect(stream, get(service, "/api/v1/windows"));
  const large = await sendLargeWindows(service);
  await expect(stream, get(service, `/api/v1/windows?instance_id=${large}&start=${from}`));
  await expect(stream, get(service, windows, ""));
  await expect(stream, get(service, windows, writer));

  const span = `start_time_ns=${from}000000000&end_time_ns=${from + 10}000000000`;
  for (const name of ["signal_context", "context/signals", "findings"]) {
    const [route, asked] = [`get /api/v1/${name}`, `/api/v1/${name}?${span}`];
    await expect(route, get(service, asked));
    await expect(route, get(service, `/api/v1/${name}?${span}&tags=x`));
    await expect(route, get(service, asked, ""));
    await expect(route, get(service, asked, writer));
  }
  const plain = { headers: { "x-api-key": service.key, accept: "text/plain" } };
  await expect(
    "get /api/v1/signal_context",
    service.request(`/api/v1/signal_context?${span}`, plain),
  );
  const guide = "/api/v1/context/guide";
  await expect(`get ${guide}`, get(service, guide));
  await expect(`get ${guide}`, get(service, guide, ""));
  await expect(`get ${guide}`, get(service, guide, writer));

  const operator = (token = ADMIN_TOKEN) => ({ authorization: `Bearer ${token}` });
  const admin = (route: string, path: string, body?: unknown, token?: string, type = JSON_TYPE) => {
    const [method] = route.split(" ");
    return expect(
      route,
      service.request(path, {
        method: method!.toUpperCase(),
        headers: { ...operator(token), "content-type": type },
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
    );
  };
  await admin("get /metrics", "/metrics");
  await admin("get /metrics", "/metrics", undefined, "wrong");
  const bodies: Record<string, [path: string, good: unknown, absent?: string]> = {
    "get /api/v1/admin/projects": ["projects", undefined],
    "post /api/v1/admin/projects": ["projects", { name: "third", database_url: null }],
    "patch /api/v1/admin/projects/{name}": ["projects/other", { max_series: 5 }, "projects/none"],
    "post /api/v1/admin/projects/{name}/move": [
      "projects/other/move",
      { to: null },
      "projects/none/move",
    ],
    "get /api/v1/admin/keys": ["keys", undefined],
    "post /api/v1/admin/keys": ["keys", { project, scopes: ["read"], expires_in: "1d" }],
    "post /api/v1/admin/keys/{prefix}/rotate": [
      `keys/${reader.slice(0, 12)}/rotate`,
      { overlap: "1h" },
      "keys/none/rotate",
    ],
    "delete /api/v1/admin/keys/{prefix}": [
      `keys/${reader.slice(0, 12)}`,
      undefined,
      "keys/none",
    ],
  };
  for (const [route, [path, good, absent]] of Object.entries(bodies)) {
    await admin(route, `/api/v1/admin/${path}`, good);
    await admin(route, `/api/v1/admin/${path}`, good, "wrong");
    if (absent) await admin(route, `/api/v1/admin/${absent}`, good);
    if (good === undefined) continue;
    await admin(route, `/api/v1/admin/${path}`, { colour: "red" });
    await admin(route, `/api/v1/admin/${path}`, "x".repeat(70_000));
    await admin(route, `/api/v1/admin/${path}`, good, ADMIN_TOKEN, "text/plain");
  }

  await service.db.write(["UPDATE projects SET max_series = 0"]);
  service.clock.now_ns += 5_000_000_000n;
  for (const [ingest, into] of Object.entries(ingests)) {
    await expect(ingest, post(service, upload, {}, into));
  }

  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.keys(responses).filter((status) => !PASSING.includes(status))
        .map((status) => `${method} ${path} ${status}`)
    )
  );
  assert.deepEqual([...seen].sort(), described.sort());
});

/** An instance whose windows are together too large for a frame. */
async function sendLargeWindows(service: TestService): Promise<string> {
  const instance_id = newInstanceId();
  for (let i = 0; i < 6; i++) {
    const to = NOW_TS - 90 + 10 * i;
    const series = [0, 1].map((part): Series => ({
      name: "work_total",
      type: "counter",
      tags: Object.fromEntries(
        Array.from({ length: 50 }, (_, tag) => [`${i}.${part}.${tag}`, "x".repeat(60_000)]),
      ),
      updated_ns: nsFromTs(to),
      total: 1,
    }));
    await send(service, { instance_id, from: to - 10, to, series });
  }
  return instance_id;
}
