/** The hosted API, a database server and a proxy between them, which tests kill and revive. */

import { type ServerProcess, startProcess } from "../../edge/testing/process.ts";
import {
  type ServerOptions,
  startServer,
  type TestServer,
} from "../../edge/testing/each_storage.ts";
import { newKey } from "../../edge/testing/api.ts";
import { type Database, openDatabase } from "../../edge/database/database.ts";
import { migrate } from "../../edge/database/schema.ts";
import { WITHOUT_RATE_LIMIT } from "./ledger.ts";
import { type Proxy, startProxy } from "./proxy.ts";

/** Processes that can be killed. */
export interface Stack extends AsyncDisposable {
  /** URL of the API; it changes when the API is revived. */
  readonly url: string;
  readonly server: TestServer;
  readonly proxy: Proxy;
  /** The database, without the proxy. */
  readonly db: Database;
  /** Creates a project; its key. */
  newKey: () => Promise<string>;
  kill: (victim: "server" | "API") => Promise<void>;
  /** Starts killed processes again. */
  revive: () => Promise<void>;
}

/** Starts all three. */
export async function startStack(options: ServerOptions = {}): Promise<Stack> {
  await using started = new AsyncDisposableStack();
  const server = started.use(await startServer(options));
  const proxy = started.use(startProxy(server.url));
  const db = started.use(await openDatabase({ url: server.url }));
  await migrate(db);
  const env = WITHOUT_RATE_LIMIT;
  let api: ServerProcess | undefined = await startProcess(proxy.url, { env });
  let isAway = false;
  const all = started.move();
  return {
    get url() {
      return api?.url ?? "http://127.0.0.1:1";
    },
    server,
    proxy,
    db,
    newKey: () => newKey(db),
    async kill(victim) {
      if (victim === "server") {
        isAway = true;
        await server.kill();
      } else {
        const killed = api;
        api = undefined;
        await killed?.[Symbol.asyncDispose]();
      }
    },
    async revive() {
      if (isAway) await server.start();
      isAway = false;
      api ??= await startProcess(proxy.url, { env }).catch(() => undefined);
    },
    async [Symbol.asyncDispose]() {
      await api?.[Symbol.asyncDispose]();
      await all[Symbol.asyncDispose]();
    },
  };
}
