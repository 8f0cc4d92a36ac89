/** Settings of the hosted API, from environment variables. */

import { MAX_SERIES, MAX_UPLOAD_BYTES } from "@service/core/limits";
import type { Limits } from "./tenancy/quotas.ts";

/** Settings of the hosted API. */
export interface Settings {
  database_url: string;
  database_token?: string;
  retention_days: number;
  hostname: string;
  /** 0: any free port. */
  port: number;
  reads_per_second: number;
  writes_per_second: number;
  quotas: Limits;
  admin_token?: string;
}

type Environment = Pick<Deno.Env, "get">;

const DATABASE_SCHEMES = ["file:", "libsql:", "http:", "https:", "ws:", "wss:"];
const MIN_TOKEN_LENGTH = 32;
const MAX_LIMIT = 999_999_999;

/**
 * The settings in environment variables.
 *
 * @throws {RangeError} If the value of a variable is not valid; the message names it.
 */
export function readSettings(env: Environment): Settings {
  const isDeploy = Boolean(env.get("DENO_DEPLOYMENT_ID") || env.get("DENO_DEPLOY"));
  const limit = (name: string, unset: number, max = MAX_LIMIT) =>
    integer(env, name, { min: 1, max, unset });
  return {
    database_url: databaseUrl(env, isDeploy),
    database_token: env.get("SERVICE_DATABASE_TOKEN"),
    retention_days: limit("SERVICE_RETENTION_DAYS", 30, 36_500),
    // On Deno Deploy requests come from outside; elsewhere only this machine may connect.
    hostname: isDeploy ? "0.0.0.0" : "127.0.0.1",
    port: integer(env, "PORT", { min: 0, max: 65_535, unset: 8000 }),
    reads_per_second: limit("SERVICE_READS_PER_SECOND", 200),
    writes_per_second: limit("SERVICE_WRITES_PER_SECOND", 2_000),
    quotas: {
      max_instances: limit("SERVICE_MAX_INSTANCES", 100_000),
      max_series: limit("SERVICE_MAX_SERIES", MAX_SERIES),
      max_body_bytes: limit("SERVICE_MAX_BODY_BYTES", MAX_UPLOAD_BYTES, MAX_UPLOAD_BYTES),
    },
    admin_token: adminToken(env),
  };
}

function databaseUrl(env: Environment, isDeploy: boolean): string {
  const url = env.get("SERVICE_DATABASE_URL");
  if (url) expectDatabaseUrl("SERVICE_DATABASE_URL", url);
  if (url || !isDeploy) return url || new URL("../service.db", import.meta.url).href;
  throw new RangeError(
    "Cannot run on Deno Deploy without SERVICE_DATABASE_URL: a file does not last there",
  );
}

function expectDatabaseUrl(name: string, url: string): void {
  if (DATABASE_SCHEMES.some((scheme) => url.startsWith(scheme))) return;
  throw new RangeError(
    `Cannot use ${name}: must start with one of ${DATABASE_SCHEMES.join(", ")}` +
      `: got ${JSON.stringify(url)}`,
  );
}

function adminToken(env: Environment): string | undefined {
  const token = env.get("SERVICE_ADMIN_TOKEN") || undefined;
  if (token === undefined || token.length >= MIN_TOKEN_LENGTH) return token;
  throw new RangeError(
    `Cannot use SERVICE_ADMIN_TOKEN: must have at least ${MIN_TOKEN_LENGTH} characters` +
      `: got ${token.length}`,
  );
}

function integer(
  env: Environment,
  name: string,
  { min, max, unset }: { min: number; max: number; unset: number },
): number {
  const text = env.get(name);
  if (!text) return unset;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (!(value >= min && value <= max)) {
    throw new RangeError(
      `Cannot use ${name}: must be a whole number from ${min} to ${max}` +
        `: got ${JSON.stringify(text)}`,
    );
  }
  return value;
}
