/** The service, and the context of one request, which routes use to answer. */

import type { Context } from "hono";
import type { Databases } from "../database/databases.ts";
import type { KeyCache } from "../tenancy/key_cache.ts";
import type { Scope } from "../tenancy/keys.ts";
import type { InstanceRoom, Limits } from "../tenancy/quotas.ts";
import type { Memory } from "../windows/memory.ts";
import type { RateLimit } from "./rate_limit.ts";
import type { Metrics } from "./telemetry.ts";

/** A running hosted API: its databases, caches, limits and settings. */
export interface Service {
  databases: Databases;
  keys: KeyCache;
  limits: Record<Scope, RateLimit>;
  /** Limits of projects without quotas of their own. */
  quotas: Limits;
  instances: InstanceRoom;
  memory: Memory;
  metrics: Metrics;
  /** Authorizes the operator's routes; `undefined`: they do not exist. */
  admin_token?: string;
  /** The time, epoch nanoseconds. */
  now_ns: () => bigint;
  /** How long windows are kept. */
  retention_days: number;
}

/** Facts about a request for the log. */
export interface RequestFacts {
  /** Rows read from databases for it. */
  rows: number;
  /** Bytes of the answer as sent; 0 if it is streamed. */
  bytes: number;
  /** Prefix of the key. */
  key?: string;
}

/** Variables of each request. */
export interface Env {
  Variables: {
    requestId: string;
    facts: RequestFacts;
    /** Logs a failure that comes after the answer has begun. */
    failed: (error: unknown) => void;
  };
}

/** One request, with the headers of its answer so far. */
export type RequestContext = Context<Env>;
