/** A route, from its description to its answers and its place in the document. */

import assert from "node:assert/strict";
import { Hono } from "hono";
import { countFromOne, optional, required, someText } from "@service/core/query";
import { integer, object, text } from "@service/core/schema";
import { openapiOf } from "../routes/openapi.ts";
import { createKey } from "../tenancy/projects.ts";
import { ADMIN_TOKEN, refused, type TestService } from "../testing/api.ts";
import { testOnFile } from "../testing/each_storage.ts";
import { json } from "./answers.ts";
import { jsonBody } from "./body.ts";
import type { Env } from "./context.ts";
import { problemResponse, refusalOf } from "./problem.ts";
import { addRoutes, route } from "./route.ts";

interface Greeting {
  text: string;
  times: number;
}

const greeting = object<Greeting>({ text: text(), times: integer(0) });

const greet = route({
  method: "POST",
  path: "/greetings/{name}",
  access: "write",
  summary: "Greets",
  segments: { name: "Name to greet." },
  query: {
    salutation: required(someText, "How to greet."),
    times: optional(countFromOne, "How often. Default: once."),
  },
  body: jsonBody(object<{ mark: string }>({ mark: text({ max: 1 }) })),
  answers: { 200: json(greeting, "The greeting.", { name: "Greeting" }) },
  handle: ({ query, segments, body, client }) => ({
    text: `${query.salutation} ${segments.name} of ${client.key.name}${body.mark}`,
    times: query.times ?? 1,
  }),
});

const count = route({
  method: "GET",
  path: "/count",
  access: "hidden",
  summary: "Counts",
  answers: { 200: json(integer(0), "The count.") },
  handle: () => 1,
});

function appOf({ service }: TestService): Hono<Env> {
  const app = new Hono<Env>({ strict: false });
  app.use((c, next) => {
    c.set("facts", { rows: 0, bytes: 0 });
    return next();
  });
  addRoutes(app, service, [greet, count]);
  app.onError((error, c) => problemResponse(c, refusalOf(error)!));
  return app;
}

function post(
  service: TestService,
  path: string,
  { key = service.key, body = '{"mark":"!"}' } = {},
) {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  return appOf(service).request(path, { method: "POST", headers, body });
}

testOnFile("a route is answered with its parameters, its body and its client", async (service) => {
  const response = await post(service, "/greetings/Ada%20L/?salutation=Hello&times=2");
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { text: "Hello Ada L of laptop!", times: 2 });
});

testOnFile("what a route does not take is refused, the key first", async (service) => {
  const reader = await createKey(service.db, {
    project: "p",
    name: "k",
    now_ns: 1n,
    scopes: ["read"],
  });
  const wrong = "/greetings/x?times=0&colour=red";
  await refused(await post(service, wrong, { key: "", body: "" }), 401);
  await refused(await post(service, wrong, { key: reader, body: "" }), 403);
  const query = await refused(await post(service, wrong, { body: "" }), 400);
  assert.deepEqual(query.errors.map(({ parameter }) => parameter), [
    "colour",
    "salutation",
    "times",
  ]);
  const path = "/greetings/x?salutation=Hello";
  const body = await refused(await post(service, path, { body: '{"mark":"!!"}' }), 400);
  assert.deepEqual(body.errors.map(({ parameter }) => parameter), ["mark"]);
  await refused(await post(service, path, { body: " ".repeat(70_000) }), 413);
});

testOnFile("a path has the methods of its routes, and no other path exists", async (service) => {
  const app = appOf(service);
  const response = await app.request("/greetings/x", { method: "DELETE" });
  assert.equal(response.headers.get("allow"), "POST");
  await refused(response, 405);
  await refused(await app.request("/greetings"), 404);
});

testOnFile("a hidden route exists for the operator alone", async (service) => {
  const app = appOf(service);
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  assert.equal((await app.request("/count", { headers: { authorization } })).status, 200);
  const absent = await refused(await app.request("/none"), 404);
  assert.deepEqual(await refused(await app.request("/count"), 404), absent);
  const { admin_token: _, ...withoutToken } = service.service;
  const headers = { authorization: "Bearer undefined" };
  const bare = appOf({ ...service, service: withoutToken });
  await refused(await bare.request("/count", { headers }), 404);
});

Deno.test("the description of a route has its parameters, body and answers", () => {
  const { paths, components } = openapiOf([greet]);
  const { parameters, responses, requestBody } = paths["/greetings/{name}"]!.post! as unknown as {
    parameters: { name: string; in: string; required?: boolean }[];
    responses: Record<string, unknown>;
    requestBody: unknown;
  };
  assert.deepEqual(parameters.map((one) => [one.in, one.name, one.required ?? false]), [
    ["path", "name", true],
    ["query", "salutation", true],
    ["query", "times", false],
  ]);
  assert.ok(requestBody);
  const statuses = ["200", "400", "401", "403", "413", "415", "429", "500", "503"];
  assert.deepEqual(Object.keys(responses), statuses);
  assert.deepEqual(components.schemas.Greeting, greeting.schema);
});
