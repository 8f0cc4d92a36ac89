import { gzipSync } from "node:zlib";
import { encode } from "@service/core";
import { acceptsGzip } from "@service/core/http";
import type { Context } from "hono";
import type { Databases } from "../database/databases.ts";
import type { InstanceRoom, Limits } from "../tenancy/quotas.ts";
import type { KeyCache } from "../tenancy/key_cache.ts";
import type { Scope } from "../tenancy/keys.ts";
import type { Memory } from "../windows/memory.ts";
import type { Metrics } from "./telemetry.ts";
import type { RateLimit } from "./rate_limit.ts";

/** What the handlers of requests work with. */
export interface Service {
  databases: Databases;
  keys: KeyCache;
  limits: Record<Scope, RateLimit>;
  /** What a project may have that has no quotas of its own. */
  quotas: Limits;
  instances: InstanceRoom;
  memory: Memory;
  metrics: Metrics;
  /** Opens the routes of the operator; `undefined`: there are none. */
  admin_token?: string;
  /** The time, epoch nanoseconds. */
  now_ns: () => bigint;
  /** How long windows are kept. */
  retention_days: number;
}

/** What the log says of a request beside its answer. */
export interface RequestFacts {
  /** Rows that databases gave for it. */
  rows: number;
  /** Bytes of the answer as sent. */
  bytes: number;
  /** Prefix of the key. */
  key?: string;
}

/** What each request carries. */
export interface Env {
  Variables: { requestId: string; facts: RequestFacts };
}

/** A request, and how it is answered. */
export type RequestContext = Context<Env>;

/** Answers one kind of request. */
export type Handler = (c: RequestContext, service: Service) => Response | Promise<Response>;

/** An answer shorter than this is not compressed: that would cost more than it saves. */
const COMPRESS_FROM_BYTES = 1_024;

/** The answer 200 with `value` as JSON, integers exact. */
export function answer(c: RequestContext, value: unknown): Response {
  return sized(c, encode(value), "application/json");
}

/** The answer 200 with a text, compressed for who takes that. */
export function sized(c: RequestContext, text: string, type: string): Response {
  let body = new TextEncoder().encode(text);
  if (body.length >= COMPRESS_FROM_BYTES && acceptsGzip(c.req.header("accept-encoding"))) {
    body = new Uint8Array(gzipSync(body));
    c.header("content-encoding", "gzip");
  }
  c.get("facts").bytes = body.length;
  return c.body(body, 200, { "content-type": type, "content-length": String(body.length) });
}
