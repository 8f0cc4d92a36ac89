/** The hosted API: routes, the log and headers of every answer, and errors as problem documents. */

import { Hono } from "hono";
import { requestId } from "hono/request-id";
import { matchedRoutes } from "hono/route";
import { isBlocked } from "./database/write_block.ts";
import type { Env, RequestContext, Service } from "./http/context.ts";
import { failure, problemResponse, refusalOf } from "./http/problem.ts";
import { addRoutes } from "./http/route.ts";
import { ingest, ingestInto } from "./routes/ingest.ts";
import { routes } from "./routes/mod.ts";

/** One line of the log: an answer, or a failure. */
export type LogEntry =
  & { level: "info" | "error"; id: string; method: string; path: string }
  & (
    | {
      /** The path with its parameters in braces. */
      route: string;
      status: number;
      ms: number;
      rows: number;
      bytes: number;
      /** Prefix of the key. */
      key?: string;
    }
    | { stack: string }
  );

/** Headers of answers without their own: answers are data for one client, not pages. */
const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "vary": "Accept-Encoding, X-API-Key",
  "x-content-type-options": "nosniff",
};

/** Routes of uploads. */
const UPLOADS = [ingest.path, ingestInto.path];

/** Statuses of windows that are refused for good. */
const REFUSED = [400, 409, 413, 422];

/** The hosted API; `log` is called for each answer and each failure. */
export function createApp(service: Service, log: (entry: LogEntry) => void): Hono<Env> {
  const app = new Hono<Env>({ strict: false });
  const logFailure = (c: RequestContext, error: Error) =>
    log({ level: "error", ...request(c), stack: error.stack ?? String(error) });

  app.use(requestId());
  app.use(async function logged(c, next) {
    const begun = performance.now();
    c.set("facts", { rows: 0, bytes: 0 });
    c.set("failed", (error) => logFailure(c, error as Error));
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
    await next();
    const ms = performance.now() - begun;
    const [{ status }, route] = [c.res, routeOf(c)];
    service.metrics.answered(route, status, ms / 1000);
    if (UPLOADS.includes(route) && REFUSED.includes(status)) service.metrics.windows.refused++;
    log({
      level: "info",
      ...request(c),
      route,
      status,
      ms: Math.round(ms * 10) / 10,
      ...c.get("facts"),
    });
  });
  addRoutes(app, service, routes);

  app.onError((error, c) => {
    const refusal = refusalOf(error);
    if (isBlocked(error)) service.keys.forget();
    if (refusal?.problem.status !== 503 && refusal) return problemResponse(c, refusal);
    logFailure(c, error);
    return problemResponse(c, refusal ?? failure(c));
  });
  return app;
}

function request(c: RequestContext) {
  return { id: c.get("requestId"), method: c.req.method, path: c.req.path };
}

/** The path of the route that answered, as the document of the API has it. */
function routeOf(c: RequestContext): string {
  const route = matchedRoutes(c).findLast(({ method }) => method !== "ALL");
  return route?.path.replaceAll(/:(\w+)/g, "{$1}") ?? "none";
}
