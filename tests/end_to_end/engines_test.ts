/** Engines that end, restart and leave others behind: what the document of their run says of them. */

import assert from "node:assert/strict";
import { decode, type Signals, signals } from "@service/core";
import { freePort } from "../free_port.ts";
import { readLocal, type Run, startRun, until } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

/** A program that serves one counter, which `/token` raises; it ends 0.3 s after SIGTERM, as vLLM does. */
const ENGINE = `#!/usr/bin/env python3
import http.server, os, signal, sys, threading
tokens = 0
class Handler(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    global tokens
    if self.path == '/token': tokens += 1
    self.send_response(200)
    self.end_headers()
    self.wfile.write(f'# TYPE tokens_total counter\\ntokens_total {tokens}\\n'.encode())
  def log_message(self, *args): pass
signal.signal(signal.SIGTERM, lambda *_: threading.Timer(.3, os._exit, [0]).start())
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[sys.argv.index('--port') + 1])), Handler).serve_forever()
`;

/** Starts the engine, under the name of one that is recognised. */
async function engineIn(directory: string): Promise<string> {
  const engine = `${directory}/llama-server`;
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
