/** Engines that end, restart and leave others behind: what the document of their run says of them. */

import assert from "node:assert/strict";
import { decode, encode, type Signals, signals } from "@service/core";
import { start } from "../command.ts";
import { freePort } from "../free_port.ts";
import { readLocal, type Run, startRun, until } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

/**
 * A program that serves one counter, which `/token` raises; it ends 0.3 s after SIGTERM, as vLLM does.
 * With vLLM's flag for it it has a second server, and in SGLang's gRPC mode it serves at the next port.
 */
const ENGINE = `#!/usr/bin/env python3
import http.server, os, signal, sys, threading
tokens = 0
port = int(sys.argv[sys.argv.index('--port') + 1])
other = os.fork() if '-dpm' in sys.argv else None
if other == 0: port += 1
if '--grpc-mode' in sys.argv:
  if '--enable-metrics' in sys.argv and 'OLD_SERVICER' in os.environ: sys.exit('it has no metrics')
  port += 1
class Handler(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    global tokens
    key = os.environ.get('ENGINE_KEY')
    if key and self.path == '/metrics' and self.headers['Authorization'] != 'Bearer ' + key:
      return self.send_error(401)
    if self.path == '/token': tokens += 1
    if self.path == '/end': os._exit(0)
    self.send_response(200)
    self.end_headers()
    self.wfile.write(f'# TYPE tokens_total counter\\ntokens_total {tokens}\\n'.encode())
  def log_message(self, *args): pass
def end(*_):
  if other: os.kill(other, signal.SIGTERM)
  threading.Timer(.3, os._exit, [0]).start()
signal.signal(signal.SIGTERM, end)
http.server.ThreadingHTTPServer(('127.0.0.1', port), Handler).serve_forever()
`;

/** The engine, under the name of one that is recognised. */
async function engineIn(directory: string, name = "llama-server"): Promise<string> {
  const engine = `${directory}/${name}`;
  await Deno.writeTextFile(engine, ENGINE, { mode: 0o755 });
  return engine;
}

function tokens({ metrics }: Signals): number | undefined {
  const stats = metrics.find(({ name }) => name === "tokens_total")?.stats;
  return stats && "total" in stats ? Number(stats.total) : undefined;
}

async function generate(port: number, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await (await fetch(`http://127.0.0.1:${port}/token`)).body?.cancel();
  }
}

/** The tokens in the payload of a run, once they are known. */
const known = (run: Run) => until(async () => tokens(await readLocal(run)) !== undefined);

Deno.test("what an engine has counted until it gets SIGTERM is in the last document", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  const port = freePort();
  const file = `${path}/last.json`;
  const run = startRun([await engineIn(path), "--port", String(port)], {
    directory: path,
    env: { SERVICE_SNAPSHOT_FILE: file },
  });
  {
    await using _ = run;
    await known(run);
    await generate(port, 80);
  }
  const last = signals.check(decode(await Deno.readTextFile(file)));
  assert.equal(tokens(last), 80);
  assert(!last.errors.some(({ message }) => message.includes("Cannot read")));
});

Deno.test("a script that becomes an engine is read as that engine, with its key", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  const port = freePort();
  await engineIn(path);
  await Deno.writeTextFile(
    `${path}/start.sh`,
    `#!/bin/sh\nsleep 1.5\nexport LLAMA_API_KEY=s3cret-key\nexec ${path}/llama-server --metrics --port ${port}\n`,
    { mode: 0o755 },
  );
  await using run = startRun([`${path}/start.sh`], {
    directory: path,
    env: { ENGINE_KEY: "s3cret-key" },
  });
  const before = await readLocal(run);
  const captured = ({ metrics }: Signals, value: number) =>
    metrics.some(({ tags, stats }) =>
      tags.capture === "engine_metrics" && "value" in stats && stats.value === value
    );
  assert(captured(before, 0));
  await known(run);
  await generate(port, 3);
  const payload = await until(async () => {
    const payload = await readLocal(run);
    return tokens(payload) === 3 && payload;
  });
  assert(captured(payload, 1));
  assert(!encode(payload).includes("s3cret-key"));
});

Deno.test("a script that becomes an engine without metrics says what it lacks", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  const engine = await engineIn(path);
  await using run = startRun(["sh", "-c", `: ; exec ${engine} --port ${freePort()}`], {
    directory: path,
  });
  await until(async () =>
    (await readLocal(run)).metrics.some(({ tags }) => /add --metrics/.test(tags.reason ?? ""))
  );
});

/** The tokens of each endpoint of a run, by port. */
function tokensByPort({ metrics }: Signals): Record<string, number> {
  return Object.fromEntries(
    metrics.filter(({ name }) => name === "tokens_total").map(({ tags, stats }) => [
      new URL(tags["metrics.url"]!).port,
      "total" in stats ? Number(stats.total) : NaN,
    ]),
  );
}

/** Generates at two ports once the engines answer, and waits until the document has the tokens of both. */
async function generateAtBoth(run: Run, first: number, second: number): Promise<void> {
  for (const [port, count] of [[first, 3], [second, 5]] as const) {
    await until(() => generate(port, 1).then(() => true, () => false));
    await generate(port, count - 1);
  }
  await until(async () => {
    const found = tokensByPort(await readLocal(run));
    return found[first] === 3 && found[second] === 5;
  });
}

Deno.test("the servers of all ranks of one command are read", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  const port = freePort();
  const ranks = ["-dpm", "-dp", "2", "-dpl", "2"];
  const words = [await engineIn(path, "vllm"), "serve", "m", ...ranks, "--port", String(port)];
  await using run = startRun(words, { directory: path });
  await generateAtBoth(run, port, port + 1);
});

Deno.test("the servers of all ranks that a script starts are read", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  const vllm = await engineIn(path, "vllm");
  const ports = [freePort(), freePort()] as const;
  const script = `trap 'kill $(jobs -p); wait' TERM
rank() { exec ${vllm} serve m --data-parallel-rank $1 --port $2; }
rank 0 ${ports[0]} & nice timeout 60 ${vllm} serve m --port ${ports[1]} & wait`;
  await using run = startRun(["bash", "-c", script], { directory: path });
  await generateAtBoth(run, ...ports);
});

Deno.test("engines that a script starts one after the other are all in the document", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  const vllm = await engineIn(path, "vllm");
  const [first, second] = [freePort(), freePort()];
  const script = `trap 'kill $!; wait; exit' TERM
for port in ${first} ${second}; do ${vllm} serve m --port $port & wait; done`;
  await using run = startRun(["bash", "-c", script], { directory: path });
  await until(() => generate(first, 1).then(() => true, () => false));
  await until(async () => tokensByPort(await readLocal(run))[first] === 1);
  await fetch(`http://127.0.0.1:${first}/end`).catch(() => {});
  await until(() => generate(second, 2).then(() => true, () => false));
  const payload = await until(async () => {
    const payload = await readLocal(run);
    return tokensByPort(payload)[second] === 2 && payload;
  });
  assert.equal(tokensByPort(payload)[first], 1);
});

Deno.test("SGLang in gRPC mode is read beside the port of gRPC", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  const port = freePort();
  const words = ["serve", "--grpc-mode", "--enable-metrics", "--port", String(port)];
  await using run = startRun([await engineIn(path, "sglang"), ...words], { directory: path });
  await known(run);
});

Deno.test("SGLang in gRPC mode starts where it cannot have metrics, and what it lacks is told", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  const port = freePort();
  const words = ["serve", "--grpc-mode", "--port", String(port)];
  await using run = startRun([await engineIn(path, "sglang"), ...words], {
    directory: path,
    env: { OLD_SERVICER: "1" },
  });
  await until(() => generate(port + 1, 1).then(() => true, () => false));
  const { metrics } = await readLocal(run);
  const state = metrics.find(({ tags }) => tags.capture === "engine_metrics");
  assert.match(state!.tags.reason!, /gRPC mode .*: add --enable-metrics for its metrics/);
});

/** An engine that nobody has ended, with the tokens that it generated. */
async function forgotten(directory: string, { port, count }: { port: number; count: number }) {
  const { process, ended } = start([await engineIn(directory), "--port", String(port)]);
  await until(() => generate(port, 1).then(() => true, () => false));
  await generate(port, count - 1);
  return {
    pid: process.pid,
    async [Symbol.asyncDispose]() {
      process.kill("SIGKILL");
      await ended;
    },
  };
}

Deno.test("a forgotten engine on the port is not taken for the run's, and the document says whose it is", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  const port = freePort();
  await using other = await forgotten(path, { port, count: 40 });
  const file = `${path}/last.json`;
  const run = startRun([`${path}/llama-server`, "--port", String(port)], {
    directory: path,
    env: { SERVICE_SNAPSHOT_FILE: file },
  });
  assert.notEqual((await run.ended).status.code, 0, "it cannot listen");
  const last = signals.check(decode(await Deno.readTextFile(file)));
  assert.equal(tokens(last), undefined);
  const whose = new RegExp(
    `Cannot read .*:${port}/metrics: its port belongs to process ${other.pid} `,
  );
  assert(last.errors.some(({ message }) => whose.test(message)), encode(last.errors));
});

Deno.test("an engine of another run on a port that the user names counts from the first read", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  const port = freePort();
  await using other = await forgotten(path, { port, count: 40 });
  await using run = startRun(["sleep", "60"], {
    directory: path,
    flags: ["--listen-port", "0", "--metrics-port", String(port)],
  });
  await known(run);
  await generate(port, 2);
  const payload = await until(async () => {
    const payload = await readLocal(run);
    return tokens(payload) === 2 && payload;
  });
  const whose = new RegExp(`is read, but its port belongs to process ${other.pid} `);
  assert.equal(payload.errors.filter(({ message }) => whose.test(message)).length, 1);
});
