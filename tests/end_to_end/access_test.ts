/** The interface's sentences about addresses and keys: who can read a run, and where. */

import assert from "node:assert/strict";
import { decode, instanceList, signals } from "@service/core";
import {
  createKey,
  type Hosted,
  readLocal,
  type Run,
  startHosted,
  startRun,
  uploadTo,
} from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

/** A request as it is written, to a server that may not be the one of its `Host`. */
interface RawRequest {
  hostname: string;
  port: number;
  path: string;
  headers: string[];
}

/** The answer to a request, or `null` where nothing listens. */
async function ask({ hostname, port, path, headers }: RawRequest): Promise<string | null> {
  const socket = await Deno.connect({ hostname, port }).catch(() => null);
  if (!socket) return null;
  using _ = socket;
  const lines = [`GET ${path} HTTP/1.1`, ...headers, "Connection: close", "", ""];
  await socket.write(new TextEncoder().encode(lines.join("\r\n")));
  return await new Response(socket.readable).text();
}

/** The first line of the answer to a request with that header. */
async function statusOf({ url }: Hosted, path: string, header: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const headers = [`Host: ${hostname}`, header];
  const answer = await ask({ hostname, port: Number(port), path, headers });
  return answer!.split("\r\n")[0]!;
}

Deno.test("the key is taken from X-API-KEY in any case, and reads its own project", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = await startHosted(directory.path);
  const other = await createKey(directory.path, "other");
  await using run = startRun(["true"], { directory: directory.path, env: uploadTo(hosted) });
  assert.equal((await run.ended).status.code, 0);
  const { instances: [instance] } = await hosted.get("/api/v1/instances", instanceList);
  const id = instance!.instance_id;
  const path = `/api/v1/signals?instance_id=${id}&start=1`;
  for (const name of ["X-API-KEY", "X-API-Key", "x-api-key", "x-aPI-kEY"]) {
    for (const asked of ["/api/v1/instances", path]) {
      assert.equal(await statusOf(hosted, asked, `${name}: ${hosted.key}`), "HTTP/1.1 200 OK");
    }
  }
  assert.match(await statusOf(hosted, path, `X-API-KEY: ${other}`), / 404 /);
  assert.match(await statusOf(hosted, path, `X-API-KEY: ${other}x`), / 401 /);
  assert.match(await statusOf(hosted, path, "X-Other: x"), / 401 /);
});

Deno.test("without a key a run uploads nothing", async () => {
  await using directory = await temporaryDirectory();
  const requests: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
    requests.push(url);
    return new Response();
  });
  const env = { SERVICE_API_BASE: `http://127.0.0.1:${server.addr.port}` };
  // An empty variable counts as not set. The second run shows that an upload would be seen.
  for (const SERVICE_API_KEY of ["", "svc_00000000_any"]) {
    await using run = startRun(["true"], {
      directory: directory.path,
      env: { ...env, SERVICE_API_KEY },
    });
    assert.equal((await run.ended).status.code, 0);
    assert.equal(requests.length > 0, SERVICE_API_KEY !== "");
  }
  await server.shutdown();
});

Deno.test("a key without the URL of a service is told, and the run goes on", async () => {
  await using directory = await temporaryDirectory();
  const file = `${directory.path}/last.json`;
  await using run = startRun(["echo", "ran"], {
    directory: directory.path,
    env: { SERVICE_API_KEY: "svc_00000000_any", SERVICE_SNAPSHOT_FILE: file },
  });
  const { status, stdout, stderr } = await run.ended;
  assert.deepEqual([status.code, stdout], [0, "ran\n"]);
  const told = /cannot upload: .*SERVICE_API_BASE must be the http\(s\) URL of the service/;
  assert.match(stderr, told);
  const { errors } = signals.check(decode(await Deno.readTextFile(file)));
  assert.deepEqual(errors.map(({ level, message }) => [level, told.test(message)]), [
    ["warning", true],
  ]);
});

/** Whether a run answers at the address; another program may have its port there. */
async function isReadAt(hostname: string, run: Run): Promise<boolean> {
  const url = new URL(await run.url);
  const id = (await readLocal(run)).context["instance.id"]!;
  const headers = [`Host: ${url.host}`];
  const answer = await ask({ hostname, port: Number(url.port), path: "/signals", headers });
  return answer?.includes(id) ?? false;
}

/** Addresses of this machine that are not those of loopback. */
function outside(): string[] {
  return Deno.networkInterfaces().map(({ address }) => address).filter((address) =>
    /^\d/.test(address) && !address.startsWith("127.")
  );
}

Deno.test("without flags a run is served at 127.0.0.1 alone, on port 18259", async () => {
  await using directory = await temporaryDirectory();
  await using run = startRun(["sleep", "1000"], { directory: directory.path, flags: [] });
  const { hostname, port } = new URL(await run.url);
  assert.equal(hostname, "127.0.0.1");
  assert(await isReadAt("127.0.0.1", run));
  for (const address of ["127.0.0.2", ...outside()]) {
    assert(!await isReadAt(address, run), address);
  }
  run.process.kill("SIGTERM");
  const { stderr } = await run.ended;
  // Where another program has the port, the run says so.
  if (port !== "18259") assert.match(stderr, /cannot listen on 127\.0\.0\.1:18259: the port is in/);
});

Deno.test("with --listen-host a run is served at that address alone", async () => {
  await using directory = await temporaryDirectory();
  await using run = startRun(["sleep", "1000"], {
    directory: directory.path,
    flags: ["--listen-host", "127.0.0.79", "--listen-port", "0"],
  });
  assert.equal(new URL(await run.url).hostname, "127.0.0.79");
  assert(await isReadAt("127.0.0.79", run));
  assert(!await isReadAt("127.0.0.1", run));
});
