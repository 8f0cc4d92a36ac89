/** Serves the hosted API: `deno task edge`. */

import { createApp, type LogEntry } from "./app.ts";
import { type Database, openDatabase } from "./database.ts";
import { maintain } from "./maintenance.ts";
import { migrate } from "./migrations.ts";
import { readSettings, type Settings } from "./settings.ts";

const MAINTAIN_EVERY_MS = 3_600_000;

// It would override the address below.
Deno.env.delete("DENO_SERVE_ADDRESS");
const settings = settingsOrExit();
const { retention_days, hostname, port } = settings;
const db = await databaseOrExit(settings);

const stopping = new AbortController();
// Deno Deploy starts a process for it where none runs; elsewhere there is none without a flag.
const { cron } = Deno as { cron?: typeof Deno.cron };
const hasCron = cron !== undefined;
cron?.("maintenance", "17 * * * *", maintainAll);

const app = createApp({ db, retention_days, log });
const server = Deno.serve({
  hostname,
  port,
  onListen: (address) => console.error(`listening on http://${hostname}:${address.port}`),
}, app.fetch);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => {
    stopping.abort();
    server.shutdown();
  });
}

await maintainAll();
const timer = hasCron ? undefined : setInterval(maintainAll, MAINTAIN_EVERY_MS);
await server.finished;
clearInterval(timer);
db[Symbol.dispose]();
Deno.exit();

async function maintainAll(): Promise<void> {
  try {
    const now_ns = BigInt(Date.now()) * 1_000_000n;
    while (!stopping.signal.aborted && !await maintain(db, { now_ns, retention_days }));
  } catch (error) {
    console.error(`Cannot roll up and remove old windows, will try again: ${error}`);
  }
}

function settingsOrExit(): Settings {
  try {
    return readSettings(Deno.env);
  } catch (error) {
    console.error((error as Error).message);
    Deno.exit(2);
  }
}

async function databaseOrExit(settings: Settings): Promise<Database> {
  try {
    const db = await openDatabase({ url: settings.database_url, token: settings.database_token });
    await migrate(db);
    return db;
  } catch (error) {
    console.error(`Cannot use the database: ${(error as Error).message}`);
    Deno.exit(1);
  }
}

function log(entry: LogEntry): void {
  const line = JSON.stringify({ time: new Date().toISOString(), ...entry });
  if (entry.level === "error") console.error(line);
  else console.log(line);
}
