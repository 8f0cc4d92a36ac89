import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import { encodeUpload, type JsonSchema } from "@service/core";
import { testOnFile } from "./_storage.ts";
import { createApp } from "./app.ts";
import { Database } from "./database.ts";
import { openapi } from "./openapi.ts";
import { get, makeUpload, newInstanceId, NOW_TS, post, send } from "./_testing.ts";

interface Operation {
  parameters?: { name: string; in: string; description: string; schema: JsonSchema }[];
  responses: Record<string, { description: string; content: Record<string, Media> }>;
}

interface Media {
  schema: JsonSchema;
  example?: unknown;
}

const paths = openapi.paths as unknown as Record<string, Record<string, Operation>>;
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });

/** A schema of the document with those that it refers to. */
function whole(schema: JsonSchema): JsonSchema {
  const local = JSON.stringify(schema).replaceAll("#/components/schemas/", "#/$defs/");
  return { ...JSON.parse(local), $defs: openapi.components.schemas };
}

function assertFits(schema: JsonSchema, value: unknown): void {
  const validate = ajv.compile(whole(schema));
  assert.ok(validate(value), JSON.stringify(validate.errors));
}

Deno.test("the document has the paths and methods that the app answers, and no others", () => {
  using db = new Database({ url: "file::memory:" });
  const { routes } = createApp({ db, retention_days: 30, log: () => {} });
  const answered = routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${path}`);
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
  );
  assert.deepEqual(described.sort(), answered.sort());
});

Deno.test("every parameter and answer is described, and examples fit", () => {
  for (
    const { parameters = [], responses } of Object.values(paths).flatMap((methods) =>
      Object.values(methods)
    )
  ) {
    for (const { name, description, schema } of parameters) {
      assert.ok(description, name);
      assert.ok(ajv.compile(schema), name);
    }
    for (const [status, { description, content }] of Object.entries(responses)) {
      assert.ok(description, status);
      for (const { schema, example } of Object.values(content)) {
        assert.ok(ajv.compile(whole(schema)), status);
        if (example !== undefined) assertFits(schema, example);
      }
    }
  }
});

testOnFile("what the app answers fits what the document says", async (service) => {
  const instance_id = newInstanceId();
  const from = NOW_TS - 100;
  const upload = encodeUpload(makeUpload({ instance_id, from, to: from + 10 }));
  assertFits({ $ref: "#/components/schemas/Upload" }, JSON.parse(upload));
  await send(service, { instance_id, from, to: from + 10 });
  const signals = `/api/v1/signals?instance_id=${instance_id}&start=${from}`;
  const answers: [string, string, Response][] = [
    ["/health", "get", await service.request("/health")],
    ["/openapi.json", "get", await service.request("/openapi.json")],
    ["/api/v1/instances", "get", await get(service, "/api/v1/instances")],
    ["/api/v1/instances", "get", await get(service, "/api/v1/instances?start=x")],
    ["/api/v1/instances", "get", await get(service, "/api/v1/instances", "")],
    ["/api/v1/signals", "get", await get(service, signals)],
    ["/api/v1/signals", "get", await get(service, "/api/v1/signals")],
    ["/api/v1/signals", "get", await get(service, "/api/v1/signals?instance_id=x&start=1")],
    ["/api/v1/signals", "get", await get(service, signals, "")],
    ["/api/v1/ingest", "post", await post(service, upload)],
    ["/api/v1/ingest", "post", await post(service, "{}")],
    ["/api/v1/ingest", "post", await post({ ...service, key: "" }, upload)],
    ["/api/v1/ingest", "post", await post(service, upload.replace("box", "other"))],
    ["/api/v1/ingest", "post", await post(service, new Uint8Array(9 * 2 ** 20))],
  ];
  const seen = new Set<string>();
  for (const [path, method, response] of answers) {
    const described = paths[path]![method]!.responses[response.status];
    assert.ok(described, `${path} ${response.status}`);
    const media = described.content[response.headers.get("content-type")!];
    assert.ok(media, `${path} ${response.status}`);
    assertFits(media.schema, await response.json());
    seen.add(`${path} ${response.status}`);
  }
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(({ responses }) =>
      Object.keys(responses).filter((status) => status !== "500").map((status) =>
        `${path} ${status}`
      )
    )
  );
  assert.deepEqual([...seen].sort(), described.sort());
});
