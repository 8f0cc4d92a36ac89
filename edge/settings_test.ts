/** Settings from environment variables. */

import assert from "node:assert/strict";
import { readSettings } from "./settings.ts";

function settings(env: Record<string, string>) {
  return readSettings({ get: (name) => env[name] });
}

Deno.test("by default a file beside the checkout is served on loopback only", () => {
  const { database_url, ...rest } = settings({});
  assert.equal(database_url, new URL("../service.db", import.meta.url).href);
  assert.deepEqual(rest, {
    database_token: undefined,
    retention_days: 30,
    hostname: "127.0.0.1",
    port: 8000,
    reads_per_second: 200,
    writes_per_second: 2_000,
    quotas: { max_instances: 100_000, max_series: 20_000, max_body_bytes: 8 * 2 ** 20 },
    admin_token: undefined,
  });
});

Deno.test("each variable sets its setting", () => {
  const env = {
    SERVICE_DATABASE_URL: "libsql://example.org",
    SERVICE_DATABASE_TOKEN: "token",
    SERVICE_RETENTION_DAYS: "7",
    PORT: "0",
    DENO_DEPLOYMENT_ID: "x",
    SERVICE_READS_PER_SECOND: "1",
    SERVICE_WRITES_PER_SECOND: "2",
    SERVICE_MAX_INSTANCES: "3",
    SERVICE_MAX_SERIES: "4",
    SERVICE_MAX_BODY_BYTES: "5",
    SERVICE_ADMIN_TOKEN: "x".repeat(32),
  };
  assert.deepEqual(settings(env), {
    database_url: "libsql://example.org",
    database_token: "token",
    retention_days: 7,
    hostname: "0.0.0.0",
    port: 0,
    reads_per_second: 1,
    writes_per_second: 2,
    quotas: { max_instances: 3, max_series: 4, max_body_bytes: 5 },
    admin_token: "x".repeat(32),
  });
});

Deno.test("an invalid value is refused with its variable and the allowed values", () => {
  const bad = {
    SERVICE_DATABASE_URL: "service.db",
    SERVICE_RETENTION_DAYS: "0",
    PORT: "65536",
    SERVICE_MAX_BODY_BYTES: "8388609",
    SERVICE_ADMIN_TOKEN: "short",
  };
  for (const [name, value] of Object.entries(bad)) {
    assert.throws(
      () => settings({ [name]: value }),
      new RegExp(`^RangeError: Cannot use ${name}: must`),
    );
  }
  for (const port of ["-1", "8e3", "80.5", "http", " 80"]) {
    assert.throws(() => settings({ PORT: port }), RangeError, port);
  }
});

Deno.test("on Deno Deploy, where files do not last, a database must be set", () => {
  for (const name of ["DENO_DEPLOY", "DENO_DEPLOYMENT_ID"]) {
    assert.throws(() => settings({ [name]: "1" }), /without SERVICE_DATABASE_URL/);
  }
});
