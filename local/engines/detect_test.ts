/** Engines are detected by their commands; this is the list of commands that are understood. */

import assert from "node:assert/strict";
import { detect } from "./detect.ts";
import { WRAPPERS } from "./wrappers.ts";

/** Command lines with blanks between the words, and where their metrics are. */
const URLS: [command: string, url: string][] = [
  ["vllm serve m", "http://127.0.0.1:8000/metrics"],
  ["/opt/bin/vllm serve m --port 8001", "http://127.0.0.1:8001/metrics"],
  ["vllm serve m --port=8001 --host 0.0.0.0", "http://127.0.0.1:8001/metrics"],
  ["vllm serve m --host :: --port 1", "http://[::1]:1/metrics"],
  ["vllm serve m --host 10.0.0.7", "http://10.0.0.7:8000/metrics"],
  ["vllm serve m --port 1 --port 2", "http://127.0.0.1:2/metrics"],
  ["vllm serve m --ssl-certfile c.pem", "https://127.0.0.1:8000/metrics"],
  ["vllm serve m --config c.yaml --port 9", "http://127.0.0.1:9/metrics"],
  ["python3 -m vllm.entrypoints.openai.api_server --model m", "http://127.0.0.1:8000/metrics"],
  [
    "python -Ximporttime -X dev -W ignore -um vllm.entrypoints.openai.api_server",
    "http://127.0.0.1:8000/metrics",
  ],
  ["python -u -X dev -mvllm.entrypoints.openai.api_server", "http://127.0.0.1:8000/metrics"],
  ["python3.12 /venv/bin/vllm serve m --port 7", "http://127.0.0.1:7/metrics"],
  ["uv run vllm serve m", "http://127.0.0.1:8000/metrics"],
  [
    "uv run --python 3.12 --no-sync --with x python -m vllm.entrypoints.openai.api_server --port 5",
    "http://127.0.0.1:5/metrics",
  ],
  ["uv run -m vllm.entrypoints.openai.api_server", "http://127.0.0.1:8000/metrics"],
  ["uvx --from vllm vllm serve m", "http://127.0.0.1:8000/metrics"],
  ["env -u X A=B C= vllm serve m", "http://127.0.0.1:8000/metrics"],
  ["nice -n 5 nohup timeout -k 5 1h vllm serve m", "http://127.0.0.1:8000/metrics"],
  ["setsid taskset -c 0-3 stdbuf -o L vllm serve m", "http://127.0.0.1:8000/metrics"],
  ["trtllm-llmapi-launch trtllm-serve m", "http://127.0.0.1:8000/prometheus/metrics"],
  ["uv tool run vllm serve m", "http://127.0.0.1:8000/metrics"],
  ["numactl --cpunodebind=0 --membind 0 -l vllm serve m", "http://127.0.0.1:8000/metrics"],
  [
    "torchrun --nproc-per-node=1 --nnodes 1 --standalone -m vllm.entrypoints.openai.api_server",
    "http://127.0.0.1:8000/metrics",
  ],
  ["torchrun --no-python vllm serve m", "http://127.0.0.1:8000/metrics"],
  ["python -m torch.distributed.run --nnodes 1 /bin/vllm serve m", "http://127.0.0.1:8000/metrics"],
  [
    "python -m sglang.launch_server --model-path m --enable-metrics",
    "http://127.0.0.1:30000/metrics",
  ],
  ["sglang serve --enable_metrics --port 30001", "http://127.0.0.1:30001/metrics"],
  ["trtllm-serve m", "http://127.0.0.1:8000/prometheus/metrics"],
  ["trtllm-serve serve m --port 8002 --host localhost", "http://localhost:8002/prometheus/metrics"],
  ["llama-server -m x.gguf --metrics", "http://127.0.0.1:8080/metrics"],
  [
    "env LLAMA_ARG_ENDPOINT_METRICS=1 LLAMA_ARG_PORT=81 llama-server",
    "http://127.0.0.1:81/metrics",
  ],
];
for (const [text, url] of URLS) {
  Deno.test(`${text} serves ${url}`, () => {
    const command = text.split(" ");
    const detection = detect(command);
    assert.equal(detection.urls[0], url);
    assert.deepEqual(detection.command, command);
    assert.deepEqual(detection.changes, []);
  });
}

Deno.test("every wrapper has a fixture", () => {
  const words = new Set(["bash", ...URLS.flatMap(([command]) => command.split(" "))]);
  assert.deepEqual(WRAPPERS.filter((name) => !words.has(name)), []);
});

const RANKS = "--data-parallel-size 4 --data-parallel-size-local";
const PORTS: [command: string, ports: number[]][] = [
  [`vllm serve m --data-parallel-multi-port-external-lb ${RANKS} 2`, [8000, 8001]],
  ["vllm serve m --port 81 -dpm -dp 4 -dpl 4", [81, 82, 83, 84]],
  [`vllm serve m --data-parallel-external-lb --data-parallel-rank 1 ${RANKS} 1 --port 9`, [9]],
  [`vllm serve m --data-parallel-hybrid-lb ${RANKS} 2`, [8000]],
  ["vllm serve m --api-server-count 4", [8000]],
  ["vllm serve m --port 65535 -dpm -dpl 4", [65535]],
  ["sglang serve --smg-grpc-mode --enable-metrics", [30001]],
  ["sglang serve --grpc_mode --port 7 --enable-metrics", [8]],
  ["sglang serve --grpc-mode --enable-metrics --metrics-http-port 9", [9]],
  ["sglang serve --grpc-mode --enable-metrics --grpc-http-sidecar-port=9", [9]],
  ["sglang serve --smg-grpc-mode --enable-metrics --smg-http-sidecar-port 9 --port 7", [9]],
  ["sglang serve --grpc-port 40000 --enable-metrics --port 7", [7]],
];
for (const [text, ports] of PORTS) {
  Deno.test(`${text} has its metrics at ${ports}`, () => {
    const command = text.split(" ");
    const detection = detect(command);
    assert.deepEqual(detection.urls, ports.map((port) => `http://127.0.0.1:${port}/metrics`));
    assert.deepEqual(detection.command, command);
  });
}

Deno.test("the ranks of a file of flags are read", () => {
  const text = "data-parallel-multi-port-external-lb: true\ndata-parallel-size-local: 2\nport: 7\n";
  const command = ["vllm", "serve", "--config", "c.yaml"];
  assert.equal(detect(command, { readText: () => text }).urls.length, 2);
});

const CHANGED: [command: string, changed: string, change: RegExp][] = [
  [
    "vllm serve m --disable-log-stats --port 1",
    "vllm serve m --port 1",
    /^removed --disable-log-stats/,
  ],
  ["nice vllm serve --disable_log_stats", "nice vllm serve", /^removed/],
  [
    "python -m sglang.launch_server --port 2",
    "python -m sglang.launch_server --port 2 --enable-metrics",
    /^added --enable-metrics/,
  ],
  ["timeout 5 llama-server -m x", "timeout 5 llama-server -m x --metrics", /^added --metrics/],
];
for (const [text, changed, change] of CHANGED) {
  Deno.test(`${text} is run as ${changed}`, () => {
    const detection = detect(text.split(" "));
    assert.deepEqual(detection.command, changed.split(" "));
    assert.equal(detection.changes.length, 1);
    assert.match(detection.changes[0]!, change);
    assert(detection.urls[0]);
  });
}

const EFFECTS: [command: string, effect: RegExp | undefined][] = [
  ["vllm serve m", /a line in its console without --disable-access-log-for-endpoints \/metrics$/],
  ["vllm serve m --disable-access-log-for-endpoints /health", /a line in its console/],
  ["vllm serve m --disable-access-log-for-endpoints=/health,/metrics", undefined],
  ["vllm serve m --disable-uvicorn-access-log", undefined],
  ["sglang serve --enable-metrics", /without --uvicorn-access-log-exclude-prefixes \/metrics$/],
  ["sglang serve --enable-metrics --uvicorn-access-log-exclude-prefixes /metrics", undefined],
  ["sglang serve --enable-metrics --smg-grpc-mode", /may be a line in its console/],
  ["llama-server --metrics", /begins .*predicted_tokens_seconds anew/],
];
for (const [text, effect] of EFFECTS) {
  Deno.test(`what a read does to ${text} is ${effect ? "told" : "nothing"}`, () => {
    const detection = detect(text.split(" "));
    if (effect) assert.match(detection.effect!, effect);
    else assert.equal(detection.effect, undefined);
  });
}

Deno.test("a command that runs already is not changed, and what it lacks is told", () => {
  const command = ["llama-server", "-m", "x"];
  const detection = detect(command, { isRunning: true });
  assert.deepEqual([detection.command, detection.changes], [command, []]);
  assert.equal(detection.urls[0], undefined);
  assert.match(detection.reason!, /add --metrics/);
});

const SCRIPTS: [script: string, url: string | undefined][] = [
  ["vllm serve m --port 8001", "http://127.0.0.1:8001/metrics"],
  [
    "  CUDA_VISIBLE_DEVICES=0 exec vllm serve 'a b' --port \"80\"\\01 > log.txt 2>&1",
    "http://127.0.0.1:8001/metrics",
  ],
  ["vllm serve $MODEL --port ${PORT}", "http://127.0.0.1:8123/metrics"],
  ['vllm serve "$MODEL" --port "$PORT"', "http://127.0.0.1:8123/metrics"],
  ["vllm serve m \\\n  --port 8001", "http://127.0.0.1:8001/metrics"],
  ["bash -lc 'vllm serve m'", "http://127.0.0.1:8000/metrics"],
  ["vllm serve m --port $(cat port)", undefined],
  ["vllm serve m --port $((8000+1))", undefined],
  ["cd /x && vllm serve m", undefined],
  ["vllm serve m & wait", undefined],
  ["vllm serve m | tee log", undefined],
  ["if true; then vllm serve m; fi", undefined],
  ["vllm serve m 'open", undefined],
];
for (const [script, url] of SCRIPTS) {
  Deno.test(`bash -c ${JSON.stringify(script)} ${url ? "is understood" : "is not understood"}`, () => {
    const command = ["bash", "-c", script];
    const detection = detect(command, { env: { PORT: "8123", MODEL: "m" } });
    assert.equal(detection.urls[0], url);
    assert.deepEqual(detection.command, command);
  });
}

const HIDDEN: [command: string[], reason: RegExp][] = [
  [["bash", "-c", "llama-server -m x"], /script, which is not changed: add --metrics/],
  [["bash", "-c", "vllm serve m --disable-log-stats"], /not changed: remove --disable-log-stats/],
  [
    ["vllm", "serve", "m", "--config", "c.yaml"],
    /may be in c\.yaml, .*: name the port with --metrics-port/,
  ],
  [["vllm", "serve", "m", "--grpc"], /--grpc/],
  [["vllm", "serve", "m", "--port", "0"], /with port 0/],
  [["llama-server", "--metrics", "--host", "/run/llama.sock"], /Unix socket/],
  [["vllm", "serve", "m", "--headless"], /--headless/],
  [["vllm", "serve", "m", "--uds", "/tmp/x"], /Unix socket/],
  [["sglang", "serve", "--node-rank", "1", "--enable-metrics"], /first node/],
  [["sglang", "serve", "--grpc-mode"], /may not start with --enable-metrics: add --enable-metrics/],
  [["sglang", "serve", "--smg-grpc-mode"], /in gRPC mode .*: add --enable-metrics for its/],
  [["sglang", "serve", "--grpc-mode", "--encoder-only", "--enable-metrics"], /an encoder/],
  [["sglang", "serve", "--model-type", "diffusion"], /may not know .*: add --enable-metrics/],
  [["vllm", "serve", "m", "--port", "http"], /no address: http/],
  [["env", "-S", "vllm serve m"], /not understood: name the port with --metrics-port/],
  [["bash", "-c", "cd /x && vllm serve m"], /not understood: name the port with --metrics-port/],
  [["sh", "-c", "vllm serve m --port $(cat p)"], /name the port with --metrics-port/],
  [Array(20).fill("nice").concat("vllm", "serve"), /name the port with --metrics-port/],
  [["vllm", "serve", "--help"], /no engine/],
  [["vllm", "bench", "latency"], /no engine/],
  [["python3", "-c", "import vllm"], /no engine/],
  [["python3", "train.py", "vllm", "serve"], /no engine/],
  [["echo", "vllm", "serve"], /no engine/],
  [["env"], /no engine/],
  [["timeout"], /no engine/],
  [["bash"], /no engine/],
  [[""], /no engine/],
];
for (const [command, reason] of HIDDEN) {
  Deno.test(`${command.join(" ")} has no endpoint, and the reason is told`, () => {
    const detection = detect(command);
    assert.equal(detection.urls[0], undefined);
    assert.match(detection.reason!, reason);
    assert.deepEqual(detection.command, command);
  });
}

const CONFIGS: [command: string, config: string, expected: string | RegExp][] = [
  ["vllm serve", "model: m\nport: 6379\nhost: 10.0.0.7\n", "http://10.0.0.7:6379/metrics"],
  ["vllm serve", '# ours\r\n"port": "8001" # why\r\nrope:\r\n  port: 1\r\n', ":8001/metrics"],
  ["vllm serve --port 9", "port: 6379\nssl_certfile: c.pem\n", "https://127.0.0.1:9/metrics"],
  ["vllm serve", "tensor-parallel-size: 2", ":8000/metrics"],
  ["vllm serve", "uds: /tmp/x", /Unix socket/],
  ["vllm serve", "disable_log_stats: true", /remove disable-log-stats from c\.yaml/],
  ["vllm serve", '{"port": 1}', /may be in c\.yaml/],
  ["vllm serve", "port: &p 8001", /may be in c\.yaml/],
  ["vllm serve", "model: m\nhost: !env HOST\n", /name the port with --metrics-port/],
  ["vllm serve --port 9 --host ::1", "port: *p\nhost: >\n  a\n", "http://[::1]:9/metrics"],
  ["sglang serve", "enable-metrics: true\nport: 30001", ":30001/metrics"],
];
for (const [text, config, expected] of CONFIGS) {
  Deno.test(`${text} --config of ${JSON.stringify(config)} is read`, () => {
    const command = [...text.split(" "), "--config", "c.yaml"];
    const detection = detect(command, { readText: (path) => path === "c.yaml" ? config : null });
    if (typeof expected === "string") {
      assert(detection.urls[0]?.endsWith(expected), detection.urls[0] ?? "no URL");
    } else assert.match(detection.reason!, expected);
    assert.deepEqual(detection.command, command);
  });
}

Deno.test("the key of llama-server is found where it is, and is not taken out of the environment", () => {
  const key = (command: string, env = {}) => detect(`${command} --metrics`.split(" "), { env }).key;
  assert.deepEqual(key("llama-server --api-key a,b"), { value: "a,b" });
  assert.deepEqual(key("llama-server", { LLAMA_API_KEY: "a" }), { variable: "LLAMA_API_KEY" });
  assert.deepEqual(key("env LLAMA_API_KEY=b llama-server", { LLAMA_API_KEY: "a" }), { value: "b" });
  assert.deepEqual(key("llama-server --api-key-file k.txt"), { file: "k.txt" });
  assert.equal(key("llama-server"), undefined);
  assert.equal(key("vllm serve m --api-key a"), undefined, "its metrics are open");
});

Deno.test("llama-server's prefix and certificate are part of its URL, from flags and variables", () => {
  const url = (command: string, env = {}) =>
    detect(`${command} --metrics`.split(" "), { env }).urls[0];
  assert.equal(url("llama-server --api-prefix /v"), "http://127.0.0.1:8080/v/metrics");
  assert.equal(
    url("llama-server", { LLAMA_ARG_API_PREFIX: "/v", LLAMA_ARG_SSL_CERT_FILE: "c.pem" }),
    "https://127.0.0.1:8080/v/metrics",
  );
});

Deno.test("a port that is named wins, on the path of the engine", () => {
  const url = (...command: string[]) => detect(command, { metricsPort: 7 }).urls[0];
  assert.equal(url("vllm", "serve", "m", "--port", "8"), "http://127.0.0.1:7/metrics");
  assert.equal(url("trtllm-serve", "m"), "http://127.0.0.1:7/prometheus/metrics");
  assert.equal(url("python3", "train.py"), "http://127.0.0.1:7/metrics");
  assert.equal(url("vllm", "serve", "m", "--config", "c"), "http://127.0.0.1:7/metrics");
  assert.equal(url("bash", "-c", "llama-server -m x"), "http://127.0.0.1:7/metrics");
});
