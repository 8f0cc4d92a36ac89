import { refuse, refuseMethod } from "@service/core/problem";
import { Hono } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import { requestId } from "hono/request-id";
import { matchedRoutes } from "hono/route";
import { addAdminRoutes } from "./routes/admin.ts";
import { isFenced } from "./database/write_block.ts";
import {
  answer,
  type Env,
  type Handler,
  type RequestContext,
  type Service,
} from "./http/respond.ts";
import { health } from "./routes/health.ts";
import { ingest } from "./routes/ingest.ts";
import { instances } from "./routes/instances.ts";
import { openapi } from "./routes/openapi.ts";
import { failure, problemResponse, refusalOf } from "./http/problem.ts";
import { signals } from "./routes/signals.ts";

/** What is said about a request. */
export type LogEntry =
  & { level: "info" | "error"; id: string; method: string; path: string }
  & (
    | {
      /** The path as the document of the API has it. */
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

/** For answers that say nothing else: they are data for the one who asked. */
const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "vary": "Accept-Encoding, X-API-Key",
  "x-content-type-options": "nosniff",
};

/** Statuses of windows that are not taken and need not be sent again. */
const REFUSED = [400, 409, 413, 422];

/** The hosted API: answers requests, and tells `log` of each. */
export function createApp(service: Service, log: (entry: LogEntry) => void): Hono<Env> {
  const app = new Hono<Env>({ strict: false });
  const handle = (handler: Handler) => (c: RequestContext) => handler(c, service);

  app.use(requestId());
  app.use(async function logged(c, next) {
    const begun = performance.now();
    c.set("facts", { rows: 0, bytes: 0 });
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
    await next();
    const ms = performance.now() - begun;
    const [{ status }, route] = [c.res, routeOf(c)];
    service.metrics.answered(route, status, ms / 1000);
    if (route === "/api/v1/ingest" && REFUSED.includes(status)) service.metrics.windows.refused++;
    log({
      level: "info",
      ...request(c),
      route,
      status,
      ms: Math.round(ms * 10) / 10,
      ...c.get("facts"),
    });
  });
  app.use(methodNotAllowed({
    app,
    onMethodNotAllowed(c, methods) {
      return problemResponse(c, refuseMethod(c.req.method, methods));
    },
  }));

  app.get("/health", handle(health));
  app.get("/openapi.json", (c) => answer(c, openapi));
  app.post("/api/v1/ingest", handle(ingest));
  app.get("/api/v1/instances", handle(instances));
  app.get("/api/v1/signals", handle(signals));
  if (service.admin_token !== undefined) addAdminRoutes(app, service, service.admin_token);

  app.notFound((c) =>
    problemResponse(c, refuse(404, "Cannot find the path: /openapi.json lists those there are"))
  );
  app.onError((error, c) => {
    const refusal = refusalOf(error);
    if (isFenced(error)) service.keys.forget();
    if (refusal?.problem.status !== 503 && refusal) return problemResponse(c, refusal);
    log({ level: "error", ...request(c), stack: error.stack ?? String(error) });
    return problemResponse(c, refusal ?? failure(c));
  });
  return app;
}

function request(c: RequestContext) {
  return { id: c.get("requestId"), method: c.req.method, path: c.req.path };
}

/** The route that answered, of which there are few. */
function routeOf(c: RequestContext): string {
  const route = matchedRoutes(c).findLast(({ method }) => method !== "ALL");
  return route?.path.replaceAll(/:(\w+)/g, "{$1}") ?? "none";
}
