/** Random requests to every route, generated from the API's document. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeUpload, type JsonSchema } from "@service/core";
import { MAX_TAGS } from "@service/core/limits";
import { assertDescribed, type Operation, paths } from "../testing/described.ts";
import { testOnFile } from "../testing/each_storage.ts";
import { ADMIN_TOKEN, makeUpload, NOW_TS, send, type TestService } from "../testing/api.ts";
import { prefixOf } from "../tenancy/keys.ts";
import { openapi } from "./mod.ts";
import { createKey } from "../tenancy/projects.ts";

const RUNS = 40;
const LONGEST_MS = 1_000;

/** A generated request. */
interface Generated {
  path: Record<string, string>;
  query: [name: string, value: string][];
  headers: Record<string, string>;
  credentials: boolean;
  body: string | undefined;
}

/** Texts for parameters without a further schema. */
const odd = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "0", "-1", "1e9", "9".repeat(30), "null", "svc_00000000", "x".repeat(5_000)),
);

/** Values that match a schema of the document, and some that almost match. */
function fitting(schema: JsonSchema, depth = 0): fc.Arbitrary<unknown> {
  const { $ref, type, anyOf, oneOf, properties, pattern } = schema as Record<string, never>;
  if ($ref !== undefined) {
    const name = ($ref as string).split("/").at(-1)!;
    return fitting(openapi.components.schemas[name]!, depth + 1);
  }
  if (schema.enum) return fc.constantFrom(...schema.enum as unknown[]);
  const choices = anyOf ?? oneOf as JsonSchema[] | undefined;
  if (choices) return fc.oneof(...(choices as JsonSchema[]).map((one) => fitting(one, depth + 1)));
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern as string, "u"));
  switch (type as unknown) {
    case "integer":
    case "number":
      return numbers(schema as { minimum?: number; maximum?: number });
    case "boolean":
      return fc.boolean();
    case "array": {
      const { items, maxItems = 3 } = schema as { items: JsonSchema; maxItems?: number };
      return fc.array(fitting(items, depth + 1), {
        maxLength: Math.min(maxItems, depth > 6 ? 1 : 3),
      });
    }
    case "object": {
      if (properties) return record(schema, depth);
      return fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { maxKeys: MAX_TAGS });
    }
    default: {
      const { minLength = 0, maxLength = 20 } = schema as {
        minLength?: number;
        maxLength?: number;
      };
      return fc.string({ minLength, maxLength: Math.min(maxLength, 50) });
    }
  }
}

function numbers({ minimum = 0, maximum = 2 ** 53 }: { minimum?: number; maximum?: number }) {
  const [min, max] = [Math.max(minimum, -(2 ** 53)), Math.min(maximum, 2 ** 53)];
  const within = fc.maxSafeNat().map((n) => min + n % (max - min));
  return fc.oneof(within, fc.constantFrom(min, max, NOW_TS, NOW_TS - 100));
}

function record(schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  const { properties, required = [] } = schema as {
    properties: Record<string, JsonSchema>;
    required?: string[];
  };
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, one]) => [
      name,
      // Other values would create databases, here or on another machine.
      ["to", "database_url"].includes(name)
        ? fc.constantFrom(null, "beside", "nowhere")
        : fitting(one, depth + 1),
    ]),
  );
  return fc.record(fields, { requiredKeys: required });
}

/** A valid body, one with an invalid member, or any text. */
function bodies(good: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const bent = fc.tuple(good, odd, fc.nat()).map(([value, text, at]) => {
    if (typeof value !== "object" || value === null) return text;
    const names = Object.keys(value);
    return { ...value, [names[at % Math.max(1, names.length)] ?? "a"]: text };
  });
  return fc.oneof(
    fc.oneof(good, bent, fc.jsonValue()).map((value) => JSON.stringify(value)),
    odd,
  );
}

/** Meaningful values by parameter. */
type ValuesByName = Record<string, fc.Arbitrary<unknown>>;

/** Requests of one operation: half valid by the document, half with unusual parts. */
function requests(operation: Operation, meaningful: ValuesByName): fc.Arbitrary<Generated> {
  return fc.boolean().chain((isOdd) => requestsOf(operation, { meaningful, isOdd }));
}

function requestsOf(
  { parameters = [], requestBody }: Operation,
  { meaningful, isOdd }: { meaningful: ValuesByName; isOdd: boolean },
): fc.Arbitrary<Generated> {
  const named = (location: string) => {
    const there = parameters.filter((one) => one.in === location);
    const values = there.map(({ name, schema }) => {
      const fits = (meaningful[name] ?? fitting(schema)).map(String);
      return [name, isOdd ? fc.oneof(fits, odd) : fits] as const;
    });
    const requiredKeys = there.filter(({ required }) => required).map(({ name }) => name);
    return fc.record(
      Object.fromEntries(values),
      isOdd && location === "query" ? { requiredKeys: [] } : { requiredKeys },
    );
  };
  const content = requestBody?.content["application/json"];
  const good = content && (meaningful.body ?? fitting(content.schema));
  const text = good?.map((value) => JSON.stringify(value));
  return fc.record({
    path: named("path"),
    query: named("query").chain((query) => {
      const once = Object.entries(query);
      const twice = fc.subarray(once).map((some) => [...once, ...some]);
      return isOdd ? fc.oneof(fc.constant(once), twice) : fc.constant(once);
    }),
    headers: named("header"),
    credentials: isOdd ? fc.boolean() : fc.constant(true),
    body: good ? isOdd ? bodies(good) : text! : fc.constant(undefined),
  });
}

for (const [path, methods] of Object.entries(paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    const route = { path, method, operation };
    const name = `${method} ${path}: every answer is one that the document describes`;
    testOnFile(name, (service) => fuzz(service, route));
  }
}

async function fuzz(
  service: TestService,
  { path, method, operation }: { path: string; method: string; operation: Operation },
): Promise<void> {
  const instance_id = "0123456789ab";
  const meaningful: ValuesByName = {
    instance_id: fc.constant(instance_id),
    name: fc.constant("p"),
    prefix: fc.constant(prefixOf(service.key)),
    start: fc.integer({ min: NOW_TS - 110, max: NOW_TS - 95 }),
    end: fc.integer({ min: NOW_TS - 95, max: NOW_TS }),
    "Content-Encoding": fc.constant("identity"),
    ...path.endsWith("ingest") && { body: uploads(instance_id) },
  };
  await createKey(service.db, { project: "p", name: "k", now_ns: 1n });
  await send(service, { instance_id, from: NOW_TS - 100, to: NOW_TS - 90 });
  const deadline = performance.now() + LONGEST_MS;
  const ask = async (generated: Generated) => {
    if (performance.now() > deadline) return;
    const { credentials, query, headers, body } = generated;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => segment(generated.path[name]!));
    const response = await service.request(`${filled}?${new URLSearchParams(query)}`, {
      method: method.toUpperCase(),
      headers: {
        ...credentials && { "x-api-key": service.key, authorization: `Bearer ${ADMIN_TOKEN}` },
        ...body !== undefined && { "content-type": "application/json" },
        ...plain(headers),
      },
      body,
    });
    const status = await assertDescribed(path, method, response);
    assert.ok(status < 500, `${status}`);
  };
  await fc.assert(fc.asyncProperty(requests(operation, meaningful), ask), {
    numRuns: RUNS,
  });
}

/** Windows of the instance; some are stored already or overlap stored ones. */
function uploads(instance_id: string): fc.Arbitrary<unknown> {
  return fc.tuple(fc.nat({ max: 20 }), fc.integer({ min: 1, max: 5 })).map(([after, length]) => {
    const from = NOW_TS - 90 + after;
    return JSON.parse(encodeUpload(makeUpload({ instance_id, from, to: from + length })));
  });
}

/** One part of a path: no dots, which a URL would resolve. */
function segment(text: string): string {
  return encodeURIComponent(text.toWellFormed().replaceAll(/^\.+$/g, "x")) || "x";
}

/** Headers that fetch() can send. */
function plain(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replaceAll(/[^\x20-\x7e]/g, "")]),
  );
}
