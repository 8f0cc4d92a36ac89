/** The hosted API as a process: a server, its timers, and its end. */

import { createApp, type LogEntry } from "./app.ts";
import {
  type DatabaseLocation,
  type Databases,
  openDatabases,
  sentence,
} from "./database/databases.ts";
import type { Migration } from "./database/migrations.ts";
import type { Service } from "./http/context.ts";
import { Metrics } from "./http/telemetry.ts";
import { clock, createService } from "./service.ts";
import type { Settings } from "./settings.ts";
import { listDatabases } from "./tenancy/projects.ts";
import { maintain } from "./windows/maintenance.ts";

/** How the hosted API is served. */
export interface ServeOptions {
  /** The schema that is used. */
  migrations?: readonly Migration[];
}

const MAINTAIN_EVERY_MS = 3_600_000;
const TIDY_EVERY_MS = 60_000;
/** Deno Deploy kills a process five seconds after its signal to stop. */
const LONGEST_END_MS = 4_000;

/**
 * Serves the hosted API until a signal, or until the database of projects and keys does not allow this
 * program any more; the exit code.
 */
export async function serve(settings: Settings, options: ServeOptions = {}): Promise<number> {
  const { hostname, port, database_url: url, database_token: token } = settings;
  const end = new AbortController();
  let code = 0;
  const metrics = new Metrics();
  const onFailure = (outcome: "retried" | "failed") => void metrics.failures[outcome]++;
  let databases: Databases;
  try {
    databases = await openDatabases({ ...options, url, token, onFailure, onRefused });
  } catch (error) {
    console.error(sentence(error));
    return 1;
  }
  const service = createService({
    ...settings,
    databases,
    metrics,
    onDamage: ({ message }) => console.error(message),
  });
  const app = createApp(service, log);

  const timers = [setInterval(() => tidy(service), TIDY_EVERY_MS)];
  const maintainEach = () => maintainAll(service, end.signal);
  const { cron } = Deno as { cron?: (name: string, schedule: string, work: () => unknown) => void };
  // Deno Deploy starts a process for a cron job if none runs; elsewhere `Deno.cron` needs a flag.
  if (cron) cron("maintenance", "17 * * * *", maintainEach);
  else timers.push(setInterval(maintainEach, MAINTAIN_EVERY_MS));

  const server = Deno.serve({
    hostname,
    port,
    onListen: (address) => console.error(`listening on http://${hostname}:${address.port}`),
  }, (request) => app.fetch(request));

  const { promise: late, resolve } = Promise.withResolvers<void>();
  end.signal.addEventListener("abort", () => {
    setTimeout(resolve, LONGEST_END_MS);
    server.shutdown();
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => end.abort());
  }
  await Promise.race([late, finish()]);
  return code;

  function onRefused(reason: Error): void {
    if (end.signal.aborted) return;
    console.error(reason.message);
    code = 1;
    end.abort();
  }

  /** Ends once the requests that were accepted are answered. */
  async function finish(): Promise<void> {
    await maintainEach();
    await server.finished;
    for (const timer of timers) clearInterval(timer);
    if (code === 0) await storeLastUse(service);
    await databases[Symbol.asyncDispose]();
  }
}

async function tidy(service: Service): Promise<void> {
  service.databases.closeIdle();
  await service.databases.check();
  await storeLastUse(service);
}

async function storeLastUse({ keys }: Service): Promise<void> {
  try {
    await keys.storeLastUse();
  } catch (error) {
    console.error(`Cannot store when keys were last used: ${error}`);
  }
}

/** Maintains each database; one that fails does not stop the others. */
async function maintainAll(service: Service, stopping: AbortSignal): Promise<void> {
  let locations: DatabaseLocation[] = [{ id: 0n, database_url: null }];
  try {
    locations = [...locations, ...await listDatabases(service.databases.control)];
  } catch (error) {
    console.error(`Cannot list the databases of projects, will try again: ${error}`);
  }
  for (const location of locations) {
    try {
      using lease = await service.databases.lease(location);
      const { memory: { blocks }, retention_days } = service;
      const options = { now_ns: clock(), retention_days, blocks };
      while (!stopping.aborted && !await maintain(lease, options));
    } catch (error) {
      const where = location.id === 0n ? "" : ` of project ${location.id}`;
      console.error(
        `Cannot roll up and remove old windows${where}, will try again: ${sentence(error)}`,
      );
    }
  }
}

function log(entry: LogEntry): void {
  const line = JSON.stringify({ time: new Date().toISOString(), ...entry });
  if (entry.level === "error") console.error(line);
  else console.log(line);
}
