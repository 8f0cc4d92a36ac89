/** Real Prometheus exporters as workloads. */

import assert from "node:assert/strict";
import { decode, type ErrorEntry, type Metric, type Signals, signals } from "@service/core";
import { temporaryDirectory } from "../temporary_directory.ts";
import { readLocal, type Run, startRun, until } from "../stack.ts";
import { run, start } from "../command.ts";
import { testUnless } from "../skipping.ts";
import { freePort } from "../free_port.ts";

/** Debian's Python, which has Debian's packages. */
const PYTHON = "/usr/bin/python3";

const NODE_EXPORTER = await missing("prometheus-node-exporter", "--version");
const PYTHON_CLIENT = await missing(PYTHON, "-c", "import prometheus_client");
const PROMETHEUS = await missing("prometheus", "--version");

/** The reason that a program is not installed, or `null`. */
async function missing(program: string, ...args: string[]): Promise<string | null> {
  const there = run([program, ...args]).then(({ status }) => status.success, () => false);
  return await there ? null : `not installed: ${program} ${args.at(-1)}`;
}

function stats<Type extends Metric["type"]>(
  { metrics }: Signals,
  type: Type,
  [name, tags = {}]: [string, Record<string, string>?],
) {
  const found = metrics.find((metric) =>
    metric.name === name && Object.entries(tags).every(([tag, value]) => metric.tags[tag] === value)
  );
  assert(found, `${name} is missing`);
  assert.equal(found.type, type, name);
  return found.stats as Extract<Metric, { type: Type }>["stats"];
}

/** The first payload with a metric. */
function payloadWith(run: Run, name: string): Promise<Signals> {
  return until(async () => {
    const payload = await readLocal(run);
    return payload.metrics.some((metric) => metric.name === name) && payload;
  });
}

const EXPORTERS: [program: string, missing: string | null, late: string, args: string[]][] = [
  ["prometheus-node-exporter", NODE_EXPORTER, "node_memory_MemTotal_bytes", []],
  ["prometheus", PROMETHEUS, "prometheus_http_requests_total", [
    "--config.file=/dev/null",
    "--storage.tsdb.path=DIRECTORY/data",
  ]],
];
for (const [program, missing, late, args] of EXPORTERS) {
  testUnless(missing)(
    `${program} as the workload: its families agree with a direct scrape`,
    async () => {
      await using directory = await temporaryDirectory();
      const port = freePort();
      await using run = startRun([
        program,
        `--web.listen-address=127.0.0.1:${port}`,
        ...args.map((arg) => arg.replace("DIRECTORY", directory.path)),
      ], {
        directory: directory.path,
        flags: ["--listen-port", "0", "--metrics-port", String(port)],
      });
      const payload = await payloadWith(run, late);
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
      assert(families.length > 100);
      const kinds: Record<string, string> = { untyped: "gauge", summary: "histogram" };
      const types = new Map<string, string>(payload.metrics.map(({ name, type }) => [name, type]));
      const missing: string[] = [];
      let equal = 0;
      for (const [, name = "", type = ""] of families) {
        const finite = new RegExp(`^${name}(?:_sum|_count)?(?:\\{.*\\})? -?\\d`, "m").test(text);
        if (finite && types.get(name) !== (kinds[type] ?? type)) missing.push(`${name} ${type}`);
        const direct = new RegExp(`^${name} (-?\\d\\S*)$`, "m").exec(text);
        if (!direct) continue;
        const one = payload.metrics.find((metric) => metric.name === name)?.stats;
        const ours = one && ("value" in one ? one.value : "total" in one ? one.total : undefined);
        if (Number(ours) === Number(direct[1])) equal++;
        // The payload's value was read a moment before.
        if (type === "counter" && ours !== undefined) {
          assert(Number(ours) <= Number(direct[1]), name);
        }
      }
      // Some series exist only at times, or change between the two scrapes.
      assert(missing.length <= 3, missing.join(", "));
      assert(equal > 50, `${equal} values are equal`);
      assert.deepEqual(payload.errors.filter(isOurs), []);
    },
  );
}

/** Program with all metric types of the Python client, whose values stay constant. */
const ALL_TYPES = `
import sys, time
from prometheus_client import *
from prometheus_client.core import *
from prometheus_client.exposition import MetricsHandler
c = Counter('requests', 'with a "quote"', ['path']); c.labels('/a"b\\\\c\\n').inc(3, {'trace_id': 'x'})
h = Histogram('latency_seconds', 'h', buckets=[.1, 1, 5])
for i in range(100): h.observe(i / 20, {'trace_id': 'y'})
s = Summary('size_bytes', 's'); s.observe(4); s.observe(0.5)
Info('build', 'b').info({'version': '1'})
Enum('state', 's', states=['on', 'off']).state('off')
Gauge('bad', 'b').set(float('nan'))
Gauge('temperature', 't', ['place']).labels('ümlaut').set(-1.5)
class Other:
  def collect(self):
    yield GaugeHistogramMetricFamily('waiting', 'w', buckets=[('1', 2), ('+Inf', 5)], gsum_value=12)
    yield UntypedMetricFamily('whatever', 'u', value=7)
REGISTRY.register(Other())
if sys.argv[2] == 'plain':
  import prometheus_client.exposition as e
  e.choose_encoder = lambda accept: (generate_latest, CONTENT_TYPE_LATEST)
start_http_server(int(sys.argv[1]), '127.0.0.1')
time.sleep(1e6)
`;

for (const format of ["openmetrics", "plain"]) {
  testUnless(PYTHON_CLIENT)(
    `prometheus_client for Python as the workload, ${format}: every type of metric arrives`,
    async () => {
      await using directory = await temporaryDirectory();
      const port = freePort();
      await using run = startRun([PYTHON, "-c", ALL_TYPES, String(port), format], {
        directory: directory.path,
        flags: ["--listen-port", "0", "--metrics-url", `http://127.0.0.1:${port}/metrics`],
      });
      const payload = await payloadWith(run, "latency_seconds");
      const counter = stats(payload, "counter", ["requests_total", { path: '/a"b\\c\n' }]);
      assert.equal(counter.total, 3);
      const latency = stats(payload, "histogram", ["latency_seconds"]);
      assert.deepEqual({ ...latency, p50: null, p95: null }, {
        count: 100,
        sum: 247.5,
        min: null,
        max: null,
        mean: 2.475,
        p50: null,
        p95: null,
      });
      // 3 values are at most 0.1, 21 at most 1, all at most 5.
      assert.equal(latency.p50, 1 + 4 * (50 - 21) / 79);
      const size = stats(payload, "histogram", ["size_bytes"]);
      assert.deepEqual([size.count, size.sum, size.p50], [2, 4.5, null]);
      const gauge = (name: string, tags: Record<string, string> = {}) =>
        stats(payload, "gauge", [name, tags]).value;
      assert.equal(gauge("build_info", { version: "1" }), 1);
      assert.equal(gauge("state", { state: "on" }), 0);
      assert.equal(gauge("state", { state: "off" }), 1);
      assert.equal(gauge("temperature", { place: "ümlaut" }), -1.5);
      assert.equal(gauge("waiting_gcount"), 5);
      assert.equal(gauge("whatever"), 7);
      assert(!payload.metrics.some(({ name }) => name === "bad"));
      assert.deepEqual(payload.errors.filter(isOurs), []);
      assert.equal(
        payload.metrics.some(({ name }) => name.endsWith("_created")),
        format === "plain",
      );
    },
  );
}

testUnless(PROMETHEUS ?? PYTHON_CLIENT)(
  "quantiles are those of Prometheus' own histogram_quantile over the same page",
  async () => {
    await using directory = await temporaryDirectory();
    const [page, server] = [freePort(), freePort()];
    await Deno.writeTextFile(
      `${directory.path}/prometheus.yml`,
      `global: {scrape_interval: 1s}\nscrape_configs: [{job_name: x, static_configs: [{targets: ["127.0.0.1:${page}"]}]}]\n`,
    );
    const { process: prometheus } = start([
      "prometheus",
      `--config.file=${directory.path}/prometheus.yml`,
      `--storage.tsdb.path=${directory.path}/data`,
      `--web.listen-address=127.0.0.1:${server}`,
    ]);
    try {
      await using run = startRun([PYTHON, "-c", ALL_TYPES, String(page), "openmetrics"], {
        directory: directory.path,
        flags: ["--listen-port", "0", "--metrics-port", String(page)],
      });
      const payload = await payloadWith(run, "latency_seconds");
      const { p50, p95 } = stats(payload, "histogram", ["latency_seconds"]);
      const theirs = async (q: number) => {
        const query = encodeURIComponent(`histogram_quantile(${q}, latency_seconds_bucket)`);
        return await until(async () => {
          const answer = await fetch(`http://127.0.0.1:${server}/api/v1/query?query=${query}`)
            .then((response) => response.json(), () => undefined);
          return answer?.data?.result[0] && Number(answer.data.result[0].value[1]);
        });
      };
      assert.deepEqual([p50, p95], [await theirs(0.5), await theirs(0.95)]);
    } finally {
      prometheus.kill("SIGTERM");
      await prometheus.status;
    }
  },
);

Deno.test("an engine recognized by its command is read without a flag, and the change is printed", async () => {
  await using directory = await temporaryDirectory();
  const engine = `${directory.path}/llama-server`;
  // A fake engine that serves its metrics on the port of its flags.
  await Deno.writeTextFile(
    engine,
    `#!/usr/bin/env python3
import os, sys, http.server
class Handler(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    allowed = self.headers['Authorization'] == 'Bearer ' + os.environ['LLAMA_API_KEY']
    self.send_response(200 if '--metrics' in sys.argv and self.path == '/metrics' and allowed else 401)
    self.end_headers()
    self.wfile.write(b'# TYPE llamacpp:prompt_tokens_total counter\\nllamacpp:prompt_tokens_total 12\\n')
  def log_message(self, *args): pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[sys.argv.index('--port') + 1])), Handler).serve_forever()
`,
    { mode: 0o755 },
  );
  const snapshotFile = `${directory.path}/last.json`;
  const run = startRun(["env", "A=B", engine, "--port", String(freePort())], {
    directory: directory.path,
    env: {
      SERVICE_SNAPSHOT_FILE: snapshotFile,
      HTTP_PROXY: "http://127.0.0.1:9",
      LLAMA_API_KEY: "sk-n3ver",
    },
  });
  {
    await using _ = run;
    const payload = await payloadWith(run, "llamacpp:prompt_tokens_total");
    assert.equal(stats(payload, "counter", ["llamacpp:prompt_tokens_total"]).total, 12);
    const root = payload.resources.find(({ tags }) =>
      tags["process.pid"] === payload.context["process.pid"]
    )!;
    assert.match(root.attributes["profiler.command_change"]!, /^added --metrics to the command/);
    assert.match(root.attributes["process.command_line"]!, / --metrics$/);
    assert.deepEqual(payload.errors.filter(isOurs), []);
  }
  assert.match((await run.ended).stderr, /^service-run: added --metrics to the command/m);
  const text = await Deno.readTextFile(snapshotFile);
  assert(!text.includes("sk-n3ver"));
  const last = signals.check(decode(text));
  assert.equal(stats(last, "counter", ["llamacpp:prompt_tokens_total"]).total, 12);
  assert.deepEqual(last.errors.filter(isOurs), []);
});

/** Whether an error comes from the profiler, and not from the workload's output or exit. */
function isOurs({ tags = {} }: ErrorEntry): boolean {
  return tags["stream"] === undefined && tags["exit.signal"] === undefined;
}
