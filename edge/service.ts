/** The service: caches, limits and counters around its databases. */

import type { Databases } from "./database/databases.ts";
import type { Service } from "./http/context.ts";
import { KeyCache } from "./tenancy/key_cache.ts";
import { Metrics } from "./http/telemetry.ts";
import { InstanceRoom, type Limits } from "./tenancy/quotas.ts";
import { createMemory } from "./windows/memory.ts";
import { RateLimit } from "./http/rate_limit.ts";

/** What a service is created with: its databases and settings. */
export interface ServiceOptions {
  databases: Databases;
  /** How long windows are kept. */
  retention_days: number;
  /** Rate limits of a key. */
  reads_per_second: number;
  writes_per_second: number;
  /** Limits of projects without quotas of their own. */
  quotas: Limits;
  admin_token?: string;
  metrics?: Metrics;
  /** Called for each stored row that cannot be read. */
  onDamage?: (error: Error) => void;
  /** The time, epoch nanoseconds. */
  now_ns?: () => bigint;
}

/** A service with empty caches. */
export function createService(options: ServiceOptions): Service {
  const {
    reads_per_second,
    writes_per_second,
    metrics = new Metrics(),
    onDamage = () => {},
    now_ns = clock,
    ...rest
  } = options;
  const now_ms = () => Number(now_ns() / 1_000_000n);
  return {
    ...rest,
    now_ns,
    metrics,
    keys: new KeyCache(rest.databases.control, now_ns),
    limits: {
      read: new RateLimit({ per_second: reads_per_second, now_ms }),
      write: new RateLimit({ per_second: writes_per_second, now_ms }),
    },
    instances: new InstanceRoom(now_ns),
    memory: createMemory((error) => {
      metrics.damagedRows++;
      onDamage(error);
    }),
  };
}

/** The time, epoch nanoseconds. */
export function clock(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
