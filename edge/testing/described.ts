/** Checks of answers against the API's document, for tests. */

import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonSchema } from "@service/core";
import { openapi } from "../routes/mod.ts";

/** One operation of the document. */
export interface Operation {
  parameters?: {
    name: string;
    in: "query" | "header" | "path";
    required?: boolean;
    description: string;
    schema: JsonSchema;
  }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description: string; content: Record<string, Media> }>;
}

/** A body of the document. */
export interface Media {
  schema: JsonSchema;
  example?: unknown;
}

/** Operations by path and method. */
export const paths = openapi.paths as unknown as Record<string, Record<string, Operation>>;

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
const compiled = new Map<string, ReturnType<typeof ajv.compile>>();

/** The validator of a schema of the document. */
export function checkOf(schema: JsonSchema) {
  const local = JSON.stringify(schema).replaceAll("#/components/schemas/", "#/$defs/");
  let check = compiled.get(local);
  if (!check) {
    check = ajv.compile({ ...JSON.parse(local), $defs: openapi.components.schemas });
    compiled.set(local, check);
  }
  return check;
}

/** Asserts that a value fits a schema. */
export function assertFits(schema: JsonSchema, value: unknown): void {
  const check = checkOf(schema);
  assert.ok(check(value), JSON.stringify(check.errors));
}

/** Asserts that the document describes an answer of the path; returns its status. */
export async function assertDescribed(
  path: string,
  method: string,
  response: Response,
): Promise<number> {
  const { status } = response;
  const text = await response.text();
  const at = `${method} ${path} ${status} ${text}`;
  const described = paths[path]![method]!.responses[status];
  assert.ok(described, at);
  assert.ok(response.headers.get("x-request-id"), at);
  assert.equal(response.headers.get("x-content-type-options"), "nosniff", at);
  if (status === 304) {
    assert.equal(text, "");
    return status;
  }
  const type = response.headers.get("content-type")!;
  const media = described.content[type];
  assert.ok(media, at);
  assertFits(media.schema, type.includes("json") ? JSON.parse(text) : text);
  return status;
}
