/** Registration of routes, and the answers 404 and 405 that follow from them. */

import { refuseMethod } from "@service/core/problem";
import type { Hono } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import type { Env, Service } from "./context.ts";
import { pathNotFound, problemResponse } from "./problem.ts";
import type { Route } from "./route.ts";

/** Registers the routes; those of the operator only where the service has an admin token. */
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
