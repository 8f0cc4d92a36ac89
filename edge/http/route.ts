/** Routes: one value describes a route, checks its requests and answers them, and registers it. */

import type { JsonSchema } from "@service/core";
import { refuseMethod } from "@service/core/problem";
import {
  type BadQueryStatus,
  type Parameter,
  type QueryParameters,
  readQuery,
} from "@service/core/query";
import type { Hono } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import type { Scope } from "../tenancy/keys.ts";
import type { Answer } from "./answers.ts";
import { authenticate, type Client, expectOperator } from "./authenticate.ts";
import type { Env, RequestContext, Service } from "./context.ts";
import { pathNotFound, problemResponse } from "./problem.ts";
import { respondJson } from "./respond.ts";

/**
 * The authentication that a route demands: a key with a scope, the operator's token, or nothing.
 * Without the token a `hidden` route is answered as a path that does not exist.
 */
export type Access = Scope | "operator" | "hidden" | "anyone";

/** A route, ready to be registered and described. */
export interface Route extends RouteDescription {
  /** The answer to a request for it. */
  answer(c: RequestContext, service: Service): Promise<Response>;
}

/** A route as its clients see it. */
export interface RouteDescription {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** The path with its parameters in braces: `/api/v1/admin/keys/{prefix}`. */
  path: string;
  access: Access;
  summary: string;
  description?: string;
  query?: Readonly<Record<string, Parameter<unknown>>>;
  /** Status of the refusal of a query; 400 if absent. */
  badQuery?: BadQueryStatus;
  /** Descriptions of the path's parameters, by name. */
  segments?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, HeaderDescription>>;
  body?: BodyDescription;
  /** Answers by status, beside those that follow from access, query and body. */
  answers: Answers;
}

/** Answers by status. */
export type Answers = { readonly [status: number]: Answer | undefined };

/** An optional header that a route reads. */
export interface HeaderDescription {
  description: string;
  schema: JsonSchema;
}

/** A JSON body that a route reads. */
export interface BodyDescription {
  description?: string;
  /** Media types that it reads beside JSON. */
  otherTypes?: readonly string[];
  schema: JsonSchema;
  /** Name of the schema in the document; absent: it is written in place. */
  name?: string;
}

/** The body of a request: described, and read. */
export interface RequestBody<Body, A extends Access> extends BodyDescription {
  /**
   * The body of an authenticated request.
   *
   * @throws {Refusal} If it cannot be accepted.
   */
  read(request: AuthenticatedRequest<A>): Promise<Body>;
}

/** A request that passed the authentication of its route. */
export interface AuthenticatedRequest<A extends Access> {
  c: RequestContext;
  service: Service;
  /** `null` where the route needs no key. */
  client: A extends Scope ? Client : null;
}

/** A request with its parameters and its body read. */
export interface RouteRequest<Query, Body, A extends Access> extends AuthenticatedRequest<A> {
  query: Query;
  body: Body;
  segments: Readonly<Record<string, string>>;
}

/** A route's description, and how it is answered. */
export interface RouteOptions<Query extends object, Body, A extends Access, Value>
  extends RouteDescription {
  access: A;
  query?: QueryParameters<Query> & RouteDescription["query"];
  body?: RequestBody<Body, NoInfer<A>>;
  answers: Answers & { readonly 200: Answer<Value> };
  /** The value of the answer 200, or another answer. */
  handle(
    request: RouteRequest<Query, Body, A>,
  ): NoInfer<Value> | Response | Promise<NoInfer<Value> | Response>;
}

/** The route that `options` describe. */
export function route<Query extends object, Body, const A extends Access, Value>(
  options: RouteOptions<Query, Body, A, Value>,
): Route {
  const { access, query, body, segments = {}, handle, ...rest } = options;
  return {
    ...rest,
    access,
    query,
    body,
    segments,
    async answer(c, service) {
      using client = await admit(c, service, access);
      const request = { c, service, client } as AuthenticatedRequest<A>;
      const value = await handle({
        ...request,
        segments: Object.fromEntries(
          Object.keys(segments).map((name) => [name, c.req.param(name) ?? ""]),
        ),
        query: query
          ? readQuery<Query>(new URL(c.req.url).searchParams, query, { status: rest.badQuery })
          : {} as Query,
        body: await body?.read(request) as Body,
      });
      return value instanceof Response ? value : respondJson(c, value);
    },
  };
}

/**
 * Registers the routes, those of the operator only where the service has an admin token. Other
 * methods of their paths get 405, other paths 404.
 */
export function addRoutes(app: Hono<Env>, service: Service, routes: readonly Route[]): void {
  app.use(methodNotAllowed({
    app,
    onMethodNotAllowed: (c, methods) => problemResponse(c, refuseMethod(c.req.method, methods)),
  }));
  for (const { method, path, access, answer } of routes) {
    const isOperators = access === "operator" || access === "hidden";
    if (isOperators && service.admin_token === undefined) continue;
    app.on(method, path.replaceAll(/\{(\w+)\}/g, ":$1"), (c) => answer(c, service));
  }
  app.notFound((c) => problemResponse(c, pathNotFound()));
}

/** The client, where the route needs a key. */
async function admit(c: RequestContext, service: Service, access: Access): Promise<Client | null> {
  if (access === "read" || access === "write") return await authenticate(c, service, access);
  if (access !== "anyone") expectOperator(c, service, { isHidden: access === "hidden" });
  return null;
}
