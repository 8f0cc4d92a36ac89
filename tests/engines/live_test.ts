/**
 * Real vLLM and SGLang with a tiny random model, where the environment names them: `VLLM` is the
 * program `vllm`, `SGLANG_PYTHON` a Python that has SGLang. With the kernels of a CPU they take five
 * minutes; `VLLM_FLAGS` and `SGLANG_FLAGS` replace the flags for it.
 */

import assert from "node:assert/strict";
import { decode, encode, type Signals, signals } from "@service/core";
import { command } from "../command.ts";
import { freePort } from "../free_port.ts";
import { testUnless } from "../skipping.ts";
import { readLocal, type Run, startRun, until } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";
import { differences, readPage } from "./page.ts";

/** An engine that may be installed. */
interface LiveEngine {
  name: string;
  /** Its program; absent where the environment does not name it. */
  program?: string;
  /** The Python of its packages. */
  python?: string;
  words: (model: string) => string[];
  /** Name of the counter of generated tokens. */
  tokens: string;
}

const { env } = Deno;
const vllm = env.get("VLLM");
const sglang = env.get("SGLANG_PYTHON");
const VLLM_FLAGS = "--load-format dummy --dtype float32 --max-model-len 1024 --enforce-eager";
const SGLANG_FLAGS = "--load-format dummy --dtype float32 --device cpu --mem-fraction-static 0.1 " +
  "--attention-backend torch_native --max-total-tokens 20000 --disable-overlap-schedule " +
  "--skip-server-warmup --enable-metrics";

const ENGINES: LiveEngine[] = [
  {
    name: "VLLM",
    program: vllm,
    python: vllm?.replace(/[^/]*$/, "python"),
    words: (model) => ["serve", model, ...(env.get("VLLM_FLAGS") ?? VLLM_FLAGS).split(" ")],
    tokens: "vllm:generation_tokens_total",
  },
  {
    name: "SGLANG_PYTHON",
    program: sglang,
    python: sglang,
    words: (model) => [
      ...["-m", "sglang.launch_server", "--model-path", model],
      ...(env.get("SGLANG_FLAGS") ?? SGLANG_FLAGS).split(" "),
    ],
    tokens: "sglang:generation_tokens_total",
  },
];

/** Series that change without a request, or by the reading of the page. */
const MOVING = /^(process_|python_gc_|http_|sglang:(http_|.*(cpu|idle|stage)_seconds))/;

/** No telemetry, no downloads, and little memory. */
const ENVIRONMENT = {
  VLLM_NO_USAGE_STATS: "1",
  VLLM_CPU_KVCACHE_SPACE: "1",
  SGLANG_USE_CPU_ENGINE: "1",
  HF_HUB_OFFLINE: "1",
};

/** Engines take a minute to start. */
const deadline_ms = 400_000;

/** An answer within the time in which an engine starts. */
async function patiently<T>(probe: () => Promise<T | undefined | false>): Promise<T> {
  for (let minutes = 0; minutes < 3; minutes++) {
    const found = await until(probe).catch(() => undefined);
    if (found) return found;
  }
  return await until(probe);
}

/** Asks for `times` times 16 tokens once the engine answers. */
async function generate(port: number, times: number, key = ""): Promise<void> {
  const ask = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: "tiny", prompt: "Hello", max_tokens: 16, ignore_eos: true }),
    });
    await response.text();
    return response.ok;
  };
  await patiently(() => ask().catch(() => false));
  for (let i = 1; i < times; i++) assert(await ask());
}

function total({ metrics }: Signals, name: string): number {
  const totals = metrics.filter((metric) => metric.name === name).map(({ stats }) => stats);
  return totals.reduce((sum, stats) => sum + ("total" in stats ? Number(stats.total) : 0), 0);
}

/** The command that serves a new model, under the name `tiny`. */
async function tinyModel({ program, python, words }: LiveEngine) {
  const directory = await temporaryDirectory();
  const { path } = directory;
  const script = new URL("tiny_model.py", import.meta.url).pathname;
  const { success } = await command([python!, script, `${path}/model`], { env: ENVIRONMENT })
    .output();
  assert(success, "no model");
  const port = freePort();
  const served = ["--served-model-name", "tiny", "--port", String(port)];
  return {
    path,
    port,
    words: [program!, ...words(`${path}/model`), ...served],
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

for (const engine of ENGINES) {
  const { name, program, tokens } = engine;
  const test = testUnless(program ? null : `no engine is named in ${name}`);

  const counted = (run: Run, expected: number) =>
    until(async () => total(await readLocal(run), tokens) === expected);

  test(`every series of ${name} is in the document, with a key, and stays there at SIGTERM`, async () => {
    await using model = await tinyModel(engine);
    const file = `${model.path}/last.json`;
    {
      await using run = startRun([...model.words, "--api-key", "sk-n3ver"], {
        directory: model.path,
        env: { ...ENVIRONMENT, SERVICE_SNAPSHOT_FILE: file },
        deadline_ms,
      });
      await generate(model.port, 8, "sk-n3ver");
      let left: string[] = [];
      const isSaid = async () => {
        const page = await (await fetch(`http://127.0.0.1:${model.port}/metrics`)).text();
        left = await differences(run, readPage(page), MOVING);
        return left.length === 0;
      };
      await until(isSaid).catch(() => assert.deepEqual(left, []));
      await generate(model.port, 2, "sk-n3ver");
      await counted(run, 10 * 16);
      // Their end may bring errors of their own.
      const { errors } = await readLocal(run);
      assert.deepEqual(errors.filter(({ level }) => level === "error"), []);
    }
    const last = signals.check(decode(await Deno.readTextFile(file)));
    assert.equal(total(last, tokens), 10 * 16);
    assert(!encode(last).includes("sk-n3ver"));
  });

  test(`${name} on a port that is taken fails, and the document says whose port it is`, async () => {
    await using model = await tinyModel(engine);
    const file = `${model.path}/last.json`;
    using _taken = Deno.listen({ port: model.port });
    const { status } = await startRun(model.words, {
      directory: model.path,
      env: { ...ENVIRONMENT, SERVICE_SNAPSHOT_FILE: file },
      deadline_ms,
    }).ended;
    assert.notEqual(status.code, 0);
    const last = signals.check(decode(await Deno.readTextFile(file)));
    const whose = `its port belongs to process ${Deno.pid} `;
    assert(last.errors.some(({ message }) => message.includes(whose)), encode(last.errors));
    assert(last.errors.some(({ level }) => level === "error"), encode(last.errors));
    assert(!last.metrics.some((metric) => metric.name === tokens));
  });

  test(`${name} in a loop that starts it again adds up`, async () => {
    await using model = await tinyModel(engine);
    const script = `trap 'kill $!; wait; exit' TERM
for i in 1 2; do "$@" & echo $! > ${model.path}/pid; wait $!; done`;
    await using run = startRun(["bash", "-c", script, "loop", ...model.words], {
      directory: model.path,
      env: ENVIRONMENT,
      flags: ["--listen-port", "0", "--metrics-port", String(model.port)],
      deadline_ms,
    });
    await generate(model.port, 3);
    await counted(run, 3 * 16);
    Deno.kill(Number(await Deno.readTextFile(`${model.path}/pid`)), "SIGTERM");
    const isGone = () =>
      fetch(`http://127.0.0.1:${model.port}/health`).then(async (response) => {
        await response.body?.cancel();
        return false;
      }, () => true);
    await until(isGone);
    await generate(model.port, 4);
    await counted(run, 7 * 16);
  });
}
