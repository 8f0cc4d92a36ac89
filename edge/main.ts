/** Serves the hosted API: `deno task edge`. */

import { createApp, type LogEntry } from "./app.ts";
import { type Database, openDatabase } from "./database.ts";
import { migrate } from "./migrations.ts";
import { purge, retainedFrom } from "./retention.ts";
import { readSettings, type Settings } from "./settings.ts";

const PURGE_EVERY_MS = 3_600_000;

// It would override the address below.
Deno.env.delete("DENO_SERVE_ADDRESS");
const settings = settingsOrExit();
const { retention_days, hostname, port } = settings;
const db = await databaseOrExit(settings);

const app = createApp({ db, retention_days, log });
const server = Deno.serve({
  hostname,
  port,
  onListen: (address) => console.error(`listening on http://${hostname}:${address.port}`),
}, app.fetch);

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => {
    stopping.abort();
    server.shutdown();
  });
}

await removeOld();
const timer = setInterval(removeOld, PURGE_EVERY_MS);
await server.finished;
clearInterval(timer);
db[Symbol.dispose]();
Deno.exit();

async function removeOld(): Promise<void> {
  try {
    const before_ns = retainedFrom(BigInt(Date.now()) * 1_000_000n, retention_days);
    while (!stopping.signal.aborted && !await purge(db, before_ns));
  } catch (error) {
    console.error(`Cannot remove old windows, will try again: ${error}`);
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
