/** Benchmark of Prometheus and VictoriaMetrics with the same data: bytes, and time of `increase()`. */

import type { Series } from "@service/core";
import { quantity } from "@service/core/sum";
import type { Row } from "./row.ts";
import { bucketsOf, dayWindow, samplesOf, START_TS, WINDOW_S } from "./storage_data.ts";
import { command } from "../command.ts";
import { freePort } from "../free_port.ts";

/** Hours of data: reading a day as text takes minutes. */
const HOURS = 3;
const WINDOWS = HOURS * 3_600 / WINDOW_S;
const QUERIES = 9;

/** Cumulative values of each series as a scraper reads them, one per window. */
type Scraped = Map<string, Float64Array>;

/** Figures of the installed ones of the two programs. */
export async function benchStoragePeers(directory: string): Promise<Row[]> {
  if (!Deno.env.get("SERVICE_BENCH_PEERS")) {
    console.log(
      "skipped Prometheus and VictoriaMetrics: set SERVICE_BENCH_PEERS=1 to run them (a minute)",
    );
    return [];
  }
  const { scraped, samples } = scrape();
  const rows: Row[] = [];
  for (
    const [program, bench] of [["victoria-metrics", victoria], ["prometheus", prometheus]] as const
  ) {
    try {
      rows.push(...await bench(`${directory}/${program}`, scraped, samples));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      console.log(`skipped ${program}: it is not installed`);
    }
  }
  return rows;
}

function scrape(): { scraped: Scraped; samples: number } {
  const scraped: Scraped = new Map();
  let samples = 0;
  for (let at = 0; at < WINDOWS; at++) {
    const window = dayWindow(at);
    samples += samplesOf(window);
    const seen = new Map<string, number>();
    for (const series of window.series.values()) {
      for (const [name, value] of numbersOf(series)) seen.set(name, value);
    }
    for (const name of seen.keys()) {
      if (!scraped.has(name)) scraped.set(name, new Float64Array(WINDOWS));
    }
    for (const [name, values] of scraped) {
      const before = at > 0 ? values[at - 1]! : 0;
      values[at] = name.startsWith("gpu_gauge")
        ? seen.get(name) ?? before
        : before + (seen.get(name) ?? 0);
    }
  }
  return { scraped, samples };
}

/** Increase of each Prometheus series of `series`, by its name with labels. */
function* numbersOf(series: Series): Generator<[string, number]> {
  const { name } = series;
  const tags = Object.entries(series.tags).map(([key, value]) =>
    `${key.replace(".", "_")}="${value}"`
  );
  // The name again as a label: `increase()` drops the name, and series would become equal.
  const labelled = (suffix: string, ...more: string[]) =>
    `${name}${suffix}{${[...tags, `metric="${name}${suffix}"`, ...more].join()}}`;
  switch (series.type) {
    case "gauge":
      return yield [labelled(""), Number(series.value)];
    case "counter":
      return yield [labelled(""), Number(quantity(series.total))];
    case "histogram":
      yield [labelled("_count"), series.count];
      yield [labelled("_sum"), Number(quantity(series.sum))];
      for (const [le, times] of bucketsOf(series)) yield [labelled("_bucket", `le="${le}"`), times];
      return;
    case "profile":
      for (const [frame, { value, samples }] of series.frames) {
        yield [labelled("_value", `frame="${frame}"`), Number(quantity(value))];
        yield [labelled("_samples", `frame="${frame}"`), samples];
      }
  }
}

async function victoria(path: string, scraped: Scraped, samples: number): Promise<Row[]> {
  const address = `127.0.0.1:${freePort()}`;
  const server = start("victoria-metrics", [
    `-storageDataPath=${path}`,
    `-httpListenAddr=${address}`,
    "-retentionPeriod=100y",
    "-search.latencyOffset=0s",
    "-search.disableCache",
    "-search.maxPointsPerTimeseries=1000000",
  ]);
  const url = `http://${address}`;
  try {
    await waitForAnswer(`${url}/health`);
    const timestamps = times().map((ts) => ts * 1_000);
    for (const [name, values] of scraped) {
      const metric = Object.fromEntries(
        [...name.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
      );
      const line = {
        metric: { __name__: name.split("{")[0], ...metric },
        values: [...values],
        timestamps,
      };
      const response = await fetch(`${url}/api/v1/import`, {
        method: "POST",
        body: JSON.stringify(line),
      });
      await response.body?.cancel();
    }
    await (await fetch(`${url}/internal/force_flush`)).body?.cancel();
    const query = await queryRow("VictoriaMetrics", url, scraped.size);
    // VictoriaMetrics writes its memory to disk when it stops.
    await server.stop();
    return [bytesRow("VictoriaMetrics", bytesUnder(path), samples), query];
  } finally {
    await server[Symbol.asyncDispose]();
  }
}

async function prometheus(path: string, scraped: Scraped, samples: number): Promise<Row[]> {
  await Deno.mkdir(path);
  const file = await Deno.create(`${path}/page.txt`);
  const page = file.writable.getWriter();
  const all = times();
  for (const [name, values] of scraped) {
    const lines = Array.from(values, (value, at) => `${name} ${value} ${all[at]}\n`);
    await page.write(new TextEncoder().encode(lines.join("")));
  }
  await page.write(new TextEncoder().encode("# EOF\n"));
  await page.close();
  const { success, stderr } = await command(
    ["promtool", "tsdb", "create-blocks-from", "openmetrics", `${path}/page.txt`, `${path}/data`],
  ).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  const bytes = bytesUnder(`${path}/data`);
  await Deno.writeTextFile(`${path}/empty.yml`, "");
  const address = `127.0.0.1:${freePort()}`;
  await using _server = start("prometheus", [
    `--config.file=${path}/empty.yml`,
    `--storage.tsdb.path=${path}/data`,
    "--storage.tsdb.retention.time=100y",
    `--web.listen-address=${address}`,
  ]);
  const url = `http://${address}`;
  await waitForAnswer(`${url}/-/ready`);
  return [bytesRow("Prometheus", bytes, samples), await queryRow("Prometheus", url, scraped.size)];
}

function times(): number[] {
  return Array.from({ length: WINDOWS }, (_, at) => START_TS + (at + 1) * WINDOW_S);
}

function bytesRow(peer: string, bytes: number, samples: number): Row {
  return {
    what: `${peer}, stored bytes, ${HOURS} h`,
    figure: bytes / samples,
    unit: "B/sample",
  };
}

async function queryRow(peer: string, url: string, series: number): Promise<Row> {
  const query = `increase({__name__=~".+"}[${HOURS}h])`;
  const took: number[] = [];
  let answered = 0;
  for (let i = 0; i < QUERIES; i++) {
    const begun = performance.now();
    const response = await fetch(`${url}/api/v1/query`, {
      method: "POST",
      body: new URLSearchParams({ query, time: `${times().at(-1)}` }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${peer} answers: ${text.slice(0, 500)}`);
    const { data } = JSON.parse(text);
    answered = data.result.length;
    took.push(performance.now() - begun);
  }
  const what = `${peer}, increase() over ${HOURS} h, ${answered} of ${series} series, p50`;
  return { what, figure: took.sort((a, b) => a - b)[QUERIES >> 1]!, unit: "ms" };
}

interface Server extends AsyncDisposable {
  /** Ends the server with SIGTERM, so that it writes its data. */
  stop: () => Promise<void>;
}

function start(program: string, args: string[]): Server {
  const process = command([program, ...args], { stdout: "null", stderr: "null" }).spawn();
  let isRunning = true;
  const end = async (signal: Deno.Signal) => {
    if (isRunning) process.kill(signal);
    await process.status;
    isRunning = false;
  };
  return { stop: () => end("SIGTERM"), [Symbol.asyncDispose]: () => end("SIGKILL") };
}

function bytesUnder(path: string): number {
  let bytes = 0;
  for (const { name, isDirectory } of Deno.readDirSync(path)) {
    bytes += isDirectory ? bytesUnder(`${path}/${name}`) : Deno.statSync(`${path}/${name}`).size;
  }
  return bytes;
}

async function waitForAnswer(url: string): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    const response = await fetch(url).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Cannot reach ${url}`);
}
