/** One run that is uploaded, and what the local endpoint and the hosted API answer of it. */

import assert from "node:assert/strict";
import { decode, type Signals, signals } from "@service/core";
import { secondsFromNs, tsFromNs } from "@service/core/time";
import { freePort } from "../free_port.ts";
import { startHosted, startRun, until, uploadTo } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

/** A program with a warning and an error on its console, whose page of metrics is a file. */
const WORKLOAD = `
import http.server, logging, sys
logging.basicConfig()
logging.warning('slow batch')
try:
  1 / 0
except ZeroDivisionError:
  logging.exception('a step failed')
class Handler(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    page = open(sys.argv[2], 'rb').read()
    self.send_response(200)
    self.end_headers()
    self.wfile.write(page)
  def log_message(self, *args): pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
`;

/** The page of metrics: of the counter, the gauge and the histogram's buckets these values. */
function page(counter: number, gauge: number, [low, middle, high]: [number, number, number]) {
  const count = low + middle + high;
  return `# TYPE app_done_total counter
app_done_total ${counter}
# TYPE app_idle gauge
app_idle 0
# TYPE app_level gauge
app_level ${gauge}
# TYPE app_size_bytes summary
app_size_bytes_count ${count}
app_size_bytes_sum ${count * 2.5}
# TYPE app_wait_seconds histogram
app_wait_seconds_bucket{le="1"} ${low}
app_wait_seconds_bucket{le="1.2"} ${low + middle}
app_wait_seconds_bucket{le="+Inf"} ${count}
app_wait_seconds_count ${count}
app_wait_seconds_sum ${count * 1.125}
`;
}

const FIRST = page(10, 7, [0, 8, 0]);
const SECOND = page(25, 3, [2, 12, 2]);

/** Answers of both endpoints, as they came. */
export interface Seen {
  /** When the run was started, and when it had answered, epoch milliseconds. */
  started_ms: number;
  answered_ms: number;
  health: string;
  /** The local payload after the first page was read, and after the second one. */
  local: [string, string];
  instances: string;
  /** The hosted payload up to a window before the second page, and the one that follows. */
  parts: [string, string];
  /** The hosted payload of the whole run. */
  hosted: string;
  /** The hosted payload with the first part's time as its end, read after the run. */
  until: string;
}

let scene: Promise<Seen> | undefined;

/** What the endpoints answered of the run, which the first test starts. */
export function seen(): Promise<Seen> {
  return scene ??= observe();
}

async function observe(): Promise<Seen> {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  await using hosted = await startHosted(path);
  const port = freePort();
  await Deno.writeTextFile(`${path}/page`, FIRST);
  const command = ["python3", "-c", WORKLOAD, String(port), `${path}/page`, "--token", "s3cret"];
  const started_ms = Date.now();
  const run = startRun(command, {
    directory: path,
    flags: [
      ...["--listen-port", "0", "--tag", "team=kernels"],
      ...["--metrics-url", `http://127.0.0.1:${port}/metrics`],
    ],
    env: { ...uploadTo(hosted), SERVICE_TAG_STAGE: "test" },
  });
  const got: Partial<Seen> = { started_ms };
  const ask = (query: string) => text(`${hosted.url}/api/v1/${query}`, hosted.key);
  let id = "", start = "", next = "";
  {
    await using _ = run;
    const url = await run.url;
    got.health = await text(`${url}/health`);
    got.answered_ms = Date.now();
    const readLocal = (done: number) =>
      until(async () => {
        const local = await text(`${url}/signals`);
        return total(local) === done && local;
      });
    const first = await readLocal(10);
    const { context, start_ns } = parse(first);
    id = context["instance.id"]!;
    start = String(tsFromNs(start_ns));
    const part = await until(async () => {
      const response = await fetch(
        `${hosted.url}/api/v1/signals?instance_id=${id}&start=${start}`,
        {
          headers: { "x-api-key": hosted.key },
        },
      );
      const part = await response.text();
      return response.ok && total(part) === 10 && part;
    });
    next = secondsFromNs(parse(part).payload_ns);
    await Deno.writeTextFile(`${path}/page.new`, SECOND);
    await Deno.rename(`${path}/page.new`, `${path}/page`);
    got.local = [first, await readLocal(25)];
    got.parts = [part, ""];
  }
  got.instances = await ask("instances");
  got.hosted = await ask(`signals?instance_id=${id}&start=${start}`);
  got.parts[1] = await ask(`signals?instance_id=${id}&start=${next}`);
  got.until = await ask(`signals?instance_id=${id}&start=${start}&end=${next}`);
  return got as Seen;
}

async function text(url: string, key = ""): Promise<string> {
  const response = await fetch(url, { headers: key ? { "x-api-key": key } : {} });
  const body = await response.text();
  assert.equal(response.status, 200, body);
  assert.equal(response.headers.get("content-type"), "application/json");
  return body;
}

/** The payload of an answer. */
export function parse(text: string): Signals {
  return signals.check(decode(text));
}

/** The counter of the page, as far as it is known. */
function total(text: string): number | undefined {
  const found = parse(text).metrics.find(({ name }) => name === "app_done_total");
  return found?.type === "counter" ? Number(found.stats.total) : undefined;
}
