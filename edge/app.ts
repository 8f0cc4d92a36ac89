import { type Context, Hono } from "hono";
import { compress } from "hono/compress";
import { methodNotAllowed } from "hono/method-not-allowed";
import { requestId } from "hono/request-id";
import type { Database } from "./database.ts";
import { answer, type Handler, type Service } from "./handler.ts";
import { ingest } from "./ingest.ts";
import { instances } from "./instances.ts";
import { openapi } from "./openapi.ts";
import { Refusal, refuse } from "@service/core";
import { errorResponse, problemResponse } from "./problem.ts";
import { signals } from "./signals.ts";

/** What the hosted API works with. */
export interface AppOptions {
  db: Database;
  /** How long windows are kept. */
  retention_days: number;
  /** Takes one entry for each request and each failure. */
  log: (entry: LogEntry) => void;
  /** The time, epoch nanoseconds. */
  now_ns?: () => bigint;
}

/** What is said about a request. */
export type LogEntry =
  & { level: "info" | "error"; id: string; method: string; path: string }
  & ({ status: number; ms: number } | { stack: string });

/** The hosted API: answers requests from the database. */
export function createApp({ log, now_ns = clock, ...rest }: AppOptions): Hono {
  const service: Service = { ...rest, now_ns };
  const app = new Hono({ strict: false });
  const handle = (handler: Handler) => (c: Context) => handler(c, service);

  app.use(requestId());
  app.use(async function logged(c, next) {
    const begun = performance.now();
    await next();
    const ms = Math.round(performance.now() - begun);
    log({ level: "info", ...request(c), status: c.res.status, ms });
  });
  app.use(compress());
  app.use(methodNotAllowed({
    app,
    onMethodNotAllowed(c, methods) {
      const allowed = methods.join(", ");
      return problemResponse(
        c,
        refuse(405, `Cannot ${c.req.method} here: the method must be one of ${allowed}`),
        { allow: allowed },
      );
    },
  }));

  app.get("/health", (c) => answer(c, { status: "ok" }));
  app.get("/openapi.json", (c) => answer(c, openapi));
  app.post("/api/v1/ingest", handle(ingest));
  app.get("/api/v1/instances", handle(instances));
  app.get("/api/v1/signals", handle(signals));

  app.notFound((c) =>
    problemResponse(c, refuse(404, "Cannot find the path: /openapi.json lists those there are"))
  );
  app.onError((error, c) => {
    if (!(error instanceof Refusal)) {
      log({ level: "error", ...request(c), stack: error.stack ?? String(error) });
    }
    return errorResponse(c, error);
  });
  return app;
}

function request(c: Context) {
  return { id: c.get("requestId"), method: c.req.method, path: c.req.path };
}

function clock(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
