/** The interface's sentences about addresses and keys: who can read a run, and where. */

import assert from "node:assert/strict";
import { decode, instanceList, signals } from "@service/core";
import { createKey, type Hosted, startHosted, startRun, uploadTo } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

/** The first line of the answer to a request that is sent as it is written. */
async function statusOf(hosted: Hosted, path: string, header: string): Promise<string> {
  const { hostname, port } = new URL(hosted.url);
  using socket = await Deno.connect({ hostname, port: Number(port) });
  const request =
    `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n${header}\r\nConnection: close\r\n\r\n`;
  await socket.write(new TextEncoder().encode(request));
  const answer = await new Response(socket.readable).text();
  return answer.split("\r\n")[0]!;
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

/** Whether something answers a connection. */
async function answers(hostname: string, port: number): Promise<boolean> {
  return await Deno.connect({ hostname, port }).then((socket) => {
    socket.close();
    return true;
  }, () => false);
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
  for (const address of ["127.0.0.2", ...outside()]) {
    assert(!await answers(address, Number(port)), address);
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
  const { hostname, port } = new URL(await run.url);
  assert.equal(hostname, "127.0.0.79");
  assert(await answers("127.0.0.79", Number(port)));
  assert(!await answers("127.0.0.1", Number(port)));
});
