import { encode } from "@service/core";
import type { Context } from "hono";
import type { Database } from "./database.ts";

/** What the handlers of requests work with. */
export interface Service {
  db: Database;
  /** The time, epoch nanoseconds. */
  now_ns: () => bigint;
  /** How long windows are kept. */
  retention_days: number;
}

/** Answers one kind of request. */
export type Handler = (c: Context, service: Service) => Response | Promise<Response>;

/** The answer 200 with `value` as JSON, integers exact. */
export function answer(c: Context, value: unknown): Response {
  const body = new TextEncoder().encode(encode(value));
  // With its length known, a small answer is not compressed: that would cost more than it saves.
  return c.body(body, 200, {
    "content-type": "application/json",
    "content-length": String(body.length),
  });
}
