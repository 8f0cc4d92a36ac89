/** How the hosted API runs. */
export interface Settings {
  database_url: string;
  database_token?: string;
  retention_days: number;
  hostname: string;
  /** 0: any free one. */
  port: number;
}

const DATABASE_SCHEMES = ["file:", "libsql:", "http:", "https:", "ws:", "wss:"];

/**
 * The settings that environment variables give.
 *
 * @throws {RangeError} If a variable holds what it cannot mean.
 */
export function readSettings(env: Pick<Deno.Env, "get">): Settings {
  const database_url = env.get("SERVICE_DATABASE_URL") ||
    new URL("../service.db", import.meta.url).href;
  if (!DATABASE_SCHEMES.some((scheme) => database_url.startsWith(scheme))) {
    throw new RangeError(
      `Cannot use SERVICE_DATABASE_URL: must start with one of ${DATABASE_SCHEMES.join(", ")}` +
        `: got ${JSON.stringify(database_url)}`,
    );
  }
  return {
    database_url,
    database_token: env.get("SERVICE_DATABASE_TOKEN"),
    retention_days: whole(env, "SERVICE_RETENTION_DAYS", { min: 1, max: 36_500, unset: 30 }),
    // Deno Deploy sends requests from outside; anywhere else only this machine is answered.
    hostname: env.get("DENO_DEPLOYMENT_ID") ? "0.0.0.0" : "127.0.0.1",
    port: whole(env, "PORT", { min: 0, max: 65_535, unset: 8000 }),
  };
}

function whole(
  env: Pick<Deno.Env, "get">,
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
