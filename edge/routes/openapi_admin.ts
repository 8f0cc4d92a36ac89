/** The operator's routes, described. */

import type { JsonSchema, Shape } from "@service/core";
import {
  done,
  listOfKeys,
  listOfProjects,
  madeKey,
  moveBody,
  newKeyBody,
  newProjectBody,
  quotasBody,
  rotationBody,
} from "./admin_shapes.ts";
import { type Answer, FAILED, HEADERS, json, refusal, UNAVAILABLE } from "../http/openapi_parts.ts";

const NO_TOKEN = refusal("Authorization is not Bearer and the service's admin token.");
const BAD_BODY = refusal("The body is wrong: errors names the path in it.");
const NO_PROJECT = refusal("There is no such project.");
const NO_VALID_KEY = refusal("There is no such key, or it is not valid any more.");
const TOO_LARGE = refusal("The body is too large.");

const NAME = inPath("name", "Name of the project.");
const PREFIX = inPath("prefix", "The start of the key, svc_ and eight digits.");

/** The operator's routes: there only where the service has an admin token. */
export const adminPaths = {
  "/metrics": {
    get: {
      summary: "The service's own counters, for Prometheus",
      security: [{ operator: [] }],
      responses: {
        200: {
          description: "The counters of this process.",
          headers: HEADERS,
          content: { "text/plain; version=0.0.4; charset=utf-8": { schema: { type: "string" } } },
        },
        404: refusal("As for a path that is not there: the token is wrong."),
        500: FAILED,
      },
    },
  },
  "/api/v1/admin/projects": {
    get: operation("Lists the projects", listOfProjects),
    post: operation("Makes a project and its database", done("created"), {
      body: newProjectBody,
      description: "database_url: where its rows go; beside: a file; null: where the keys are.",
    }),
  },
  "/api/v1/admin/projects/{name}": {
    patch: operation("Sets quotas of a project", done("changed"), {
      body: quotasBody,
      parameters: [NAME],
      missing: NO_PROJECT,
      description: "null: what the service allows by default.",
    }),
  },
  "/api/v1/admin/projects/{name}/move": {
    post: operation("Moves a project to another database", done("moved"), {
      body: moveBody,
      parameters: [NAME],
      missing: NO_PROJECT,
      description: "Answers when all is copied. Uploads wait for the last part of it.",
    }),
  },
  "/api/v1/admin/keys": {
    get: operation("Lists the keys, without their secrets", listOfKeys),
    post: operation("Makes a key, and its project where there is none", madeKey, {
      body: newKeyBody,
      description: "The answer is the only one that has the key.",
    }),
  },
  "/api/v1/admin/keys/{prefix}/rotate": {
    post: operation("Makes a key like another, which expires after the overlap", madeKey, {
      body: rotationBody,
      parameters: [PREFIX],
      missing: NO_VALID_KEY,
    }),
  },
  "/api/v1/admin/keys/{prefix}": {
    delete: operation("Revokes a key", done("revoked"), {
      parameters: [PREFIX],
      missing: NO_VALID_KEY,
    }),
  },
};

interface OperationParts {
  description?: string;
  body?: { schema: JsonSchema };
  parameters?: JsonSchema[];
  missing?: Answer;
}

function operation<T>(
  summary: string,
  { schema }: Shape<T>,
  { description, body, parameters, missing }: OperationParts = {},
) {
  return {
    summary,
    ...(description && { description }),
    ...(parameters && { parameters }),
    security: [{ operator: [] }],
    ...(body && {
      requestBody: { required: true, content: { "application/json": { schema: body.schema } } },
    }),
    responses: {
      200: json("It is done.", { schema }),
      ...(body && { 400: BAD_BODY, 413: TOO_LARGE }),
      401: NO_TOKEN,
      ...(missing && { 404: missing }),
      500: FAILED,
      503: UNAVAILABLE,
    },
  };
}

function inPath(name: string, description: string): JsonSchema {
  return {
    name,
    in: "path",
    required: true,
    description,
    schema: { type: "string", minLength: 1 },
  };
}
