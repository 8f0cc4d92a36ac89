/** Serves the hosted API: `deno task edge`, and on Deno Deploy. */

import { createApp, type LogEntry } from "./app.ts";
import { type Databases, openDatabases } from "./database/databases.ts";
import { maintain } from "./windows/maintenance.ts";
import { Metrics } from "./http/telemetry.ts";
import { listDatabases } from "./tenancy/projects.ts";
import { clock, createService } from "./service.ts";
import { readSettings, type Settings } from "./settings.ts";

const MAINTAIN_EVERY_MS = 3_600_000;
const TIDY_EVERY_MS = 60_000;
/** Deno Deploy kills a process five seconds after its signal to stop. */
const LONGEST_END_MS = 4_000;

// This variable would override the address below.
Deno.env.delete("DENO_SERVE_ADDRESS");
const settings = settingsOrExit();
const { retention_days, hostname, port } = settings;
const metrics = new Metrics();
const databases = await databasesOrExit(settings);
const service = createService({ ...settings, databases, metrics });
const app = createApp(service, log);
const stopping = new AbortController();

const timers = [setInterval(tidy, TIDY_EVERY_MS)];
const { cron } = Deno as { cron?: (name: string, schedule: string, work: () => unknown) => void };
// Deno Deploy starts a process for a cron job if none runs; elsewhere `Deno.cron` needs a flag.
if (cron) cron("maintenance", "17 * * * *", maintainAll);
else timers.push(setInterval(maintainAll, MAINTAIN_EVERY_MS));

const server = Deno.serve({
  hostname,
  port,
  onListen: (address) => console.error(`listening on http://${hostname}:${address.port}`),
}, (request) => app.fetch(request));

for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, stop);

await maintainAll();
await server.finished;
for (const timer of timers) clearInterval(timer);
await tidy();
await databases[Symbol.asyncDispose]();
Deno.exit();

/** Stops accepting requests and ends once those accepted are answered. */
function stop(): void {
  if (stopping.signal.aborted) return;
  stopping.abort();
  setTimeout(() => Deno.exit(), LONGEST_END_MS);
  server.shutdown();
}

async function tidy(): Promise<void> {
  databases.closeIdle();
  try {
    await service.keys.storeLastUse();
  } catch (error) {
    console.error(`Cannot store when keys were last used: ${error}`);
  }
}

async function maintainAll(): Promise<void> {
  const { dictionaries } = service.memory;
  const options = { now_ns: clock(), retention_days, dictionaries };
  try {
    const control = { id: 0n, database_url: null };
    for (const location of [control, ...await listDatabases(databases.control)]) {
      using lease = await databases.lease(location);
      while (!stopping.signal.aborted && !await maintain(lease, options));
    }
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

async function databasesOrExit({ database_url: url, database_token: token }: Settings): Promise<
  Databases
> {
  try {
    const onFailure = (outcome: "retried" | "failed") => void metrics.failures[outcome]++;
    return await openDatabases({ url, token, onFailure });
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
