import assert from "node:assert/strict";
import { readSettings } from "./settings.ts";

function settings(env: Record<string, string>) {
  return readSettings({ get: (name) => env[name] });
}

Deno.test("with nothing set, a file beside the checkout is served to this machine only", () => {
  const { database_url, ...rest } = settings({});
  assert.equal(database_url, new URL("../service.db", import.meta.url).href);
  assert.deepEqual(rest, {
    database_token: undefined,
    retention_days: 30,
    hostname: "127.0.0.1",
    port: 8000,
  });
});

Deno.test("each variable sets its own", () => {
  const env = {
    SERVICE_DATABASE_URL: "libsql://example.org",
    SERVICE_DATABASE_TOKEN: "token",
    SERVICE_RETENTION_DAYS: "7",
    PORT: "0",
    DENO_DEPLOYMENT_ID: "x",
  };
  assert.deepEqual(settings(env), {
    database_url: "libsql://example.org",
    database_token: "token",
    retention_days: 7,
    hostname: "0.0.0.0",
    port: 0,
  });
});

Deno.test("a value that cannot be meant is refused with the name and what is allowed", () => {
  const bad = {
    SERVICE_DATABASE_URL: "service.db",
    SERVICE_RETENTION_DAYS: "0",
    PORT: "65536",
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
