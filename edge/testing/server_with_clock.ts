/** The hosted API as a program for tests; each request sets its clock. */

import { createApp } from "../app.ts";
import { openDatabases } from "../database/databases.ts";
import { createService } from "../service.ts";
import { readSettings } from "../settings.ts";

const settings = readSettings(Deno.env);
let now_ns = 0n;
const service = createService({
  ...settings,
  databases: await openDatabases({ url: settings.database_url }),
  now_ns: () => now_ns,
});
const app = createApp(service, ({ ...entry }) => "stack" in entry && console.error(entry.stack));
Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.error(`listening on http://127.0.0.1:${port}`),
}, (request) => {
  now_ns = BigInt(request.headers.get("x-test-now-ns") ?? 0);
  return app.fetch(request);
});
