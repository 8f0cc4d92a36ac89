/** The document of the hosted API (OpenAPI 3.1), assembled from the descriptions of its routes. */

import type { JsonSchema } from "@service/core";
import type { Parameter } from "@service/core/query";
import {
  type Answer,
  BAD_BODY,
  BAD_QUERY,
  BAD_TYPE,
  FAILED,
  HIDDEN,
  json,
  NO_KEY,
  NO_SCOPE,
  NO_TOKEN,
  TOO_LARGE,
  TOO_OFTEN,
  UNAVAILABLE,
} from "../http/answers.ts";
import {
  type Access,
  type Answers,
  type Route,
  route,
  type RouteDescription,
} from "../http/route.ts";
import { JSON_TYPE } from "../http/body.ts";
import { VERSION } from "../version.ts";

/** An OpenAPI document. */
export interface OpenApi {
  openapi: string;
  info: JsonSchema;
  security: JsonSchema[];
  /** Operations by path and lower-case method. */
  paths: Record<string, Record<string, JsonSchema>>;
  components: {
    securitySchemes: JsonSchema;
    headers: JsonSchema;
    schemas: Record<string, JsonSchema>;
  };
}

/** `GET /openapi.json`: the document of the API. */
export function openapiRoute(document: () => OpenApi): Route {
  return route({
    method: "GET",
    path: "/openapi.json",
    access: "anyone",
    summary: "This document",
    answers: {
      200: json({ schema: { type: "object" }, check: (value) => value }, "The document."),
    },
    handle: document,
  });
}

/** The document of routes. */
export function openapiOf(routes: readonly RouteDescription[]): OpenApi {
  const paths: OpenApi["paths"] = {};
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Signals",
      version: VERSION,
      description:
        "Profiles, metrics and errors of running workloads. Fields that end in _ns are epoch " +
        "nanoseconds, past 2^53: read them with a parser that keeps 64-bit integers. Fields that " +
        "end in _ts are epoch seconds. A query takes epoch seconds, with up to nine decimals.",
    },
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: {
        key: { type: "apiKey", in: "header", name: "X-API-Key" },
        operator: { type: "http", scheme: "bearer" },
      },
      headers: {
        RequestId: {
          description: "The id of the request: X-Request-Id as sent, or a new one.",
          schema: { type: "string" },
        },
      },
      schemas: namedSchemas(routes),
    },
  };
}

const HEADERS: JsonSchema = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } };

const SECURITY: Record<Access, { security?: JsonSchema[] }> = {
  read: {},
  write: {},
  operator: { security: [{ operator: [] }] },
  hidden: { security: [{ operator: [] }] },
  anyone: { security: [] },
};

const OF_KEY = { 401: NO_KEY, 403: NO_SCOPE, 429: TOO_OFTEN, 500: FAILED, 503: UNAVAILABLE };

/** Answers that follow from the authentication of a route. */
const ACCESS_ANSWERS: Record<Access, Answers> = {
  read: OF_KEY,
  write: OF_KEY,
  operator: { 401: NO_TOKEN, 500: FAILED, 503: UNAVAILABLE },
  hidden: { 404: HIDDEN, 500: FAILED },
  anyone: {},
};

/** All answers of a route; its own descriptions replace the general ones. */
function answersOf(
  { access, query, badQuery = 400, body, answers }: RouteDescription,
): Answers {
  return {
    ...(query && { [badQuery]: BAD_QUERY }),
    ...(body && { 400: BAD_BODY, 413: TOO_LARGE, 415: BAD_TYPE }),
    ...ACCESS_ANSWERS[access],
    ...answers,
  };
}

function operationOf(route: RouteDescription): JsonSchema {
  const { summary, description, access, body, query = {}, segments = {}, headers = {} } = route;
  const parameters = [
    ...Object.entries(segments).map(([name, text]) => segment(name, text)),
    ...Object.entries(query).map(([name, parameter]) => queryParameter(name, parameter)),
    ...Object.entries(headers).map(([name, header]) => ({ name, in: "header", ...header })),
  ];
  const answers = Object.entries(answersOf(route)).flatMap(([status, answer]) =>
    answer ? [[status, response(answer)]] : []
  );
  return {
    summary,
    ...(description && { description }),
    ...SECURITY[access],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        ...(body.description && { description: body.description }),
        content: {
          [JSON_TYPE]: { schema: schemaOf(body) },
          ...(body.otherTypes && Object.fromEntries(body.otherTypes.map((type) => [type, {}]))),
        },
      },
    }),
    responses: Object.fromEntries(answers),
  };
}

function segment(name: string, description: string): JsonSchema {
  const schema = { type: "string", minLength: 1 };
  return { name, in: "path", required: true, description, schema };
}

function queryParameter(name: string, parameter: Parameter<unknown>): JsonSchema {
  const { required, description, schema } = parameter;
  return {
    name,
    in: "query",
    ...(required && { required }),
    description,
    // An array is one text, with commas between its items.
    ...(schema.type === "array" && { style: "form", explode: false }),
    schema,
  };
}

function response({ description, content }: Answer): JsonSchema {
  if (!content) return { description, headers: HEADERS, content: {} };
  const { type, shape, name, example, textType } = content;
  const media = {
    schema: schemaOf({ name, schema: shape.schema }),
    ...(example !== undefined && { example }),
  };
  return { description, headers: HEADERS, content: { [type]: media, ...textOf(textType) } };
}

function textOf(type: string | undefined): JsonSchema {
  return type === undefined ? {} : { [type]: { schema: { type: "string" } } };
}

interface NamedSchema {
  name?: string;
  schema: JsonSchema;
}

function schemaOf({ name, schema }: NamedSchema): JsonSchema {
  return name === undefined ? schema : { $ref: `#/components/schemas/${name}` };
}

/** The schemas with names that routes use. */
function namedSchemas(routes: readonly RouteDescription[]): Record<string, JsonSchema> {
  const used = routes.flatMap((route): (NamedSchema | undefined)[] => [
    route.body,
    ...Object.values(answersOf(route)).map((answer) =>
      answer?.content && { name: answer.content.name, schema: answer.content.shape.schema }
    ),
  ]);
  return Object.fromEntries(
    used.flatMap((one) => one?.name === undefined ? [] : [[one.name, one.schema]]),
  );
}
