/** Soak test of the hosted API with 10,000 live instances: latency, memory and size over minutes. */

import { decode, type Signals, signals, type Upload } from "@service/core";
import { type PackedWindow, WindowPacker } from "@service/core/packed";
import { nsFromTs } from "@service/core/time";
import { startProcess } from "../../edge/testing/process.ts";
import { startServer } from "../../edge/testing/each_storage.ts";
import { newKey } from "../../edge/testing/api.ts";
import { openDatabases } from "../../edge/database/databases.ts";
import { createProject } from "../../edge/tenancy/projects.ts";
import type { Row } from "./row.ts";
import { sampleWindow } from "./samples.ts";
import { bodyOf, UPLOAD_HEADERS } from "./uploads.ts";

/** Simulated load and its length. */
export interface SoakOptions {
  minutes: number;
  /** Kind of the database. */
  where: "file" | "sqld";
  instances?: number;
  /** Count of series in a window: gauges, counters, and every tenth a histogram. */
  series?: number;
  followers?: number;
}

const WINDOW_S = 10;
const READ_EVERY_MS = 5_000;
/** Limit of parallel uploads; further ones wait, and the wait counts as latency. */
const MAX_OPEN = 256;
/** Time after which all instances have reported and memory is steady. */
const WARM_UP_MS = 30_000;

/** Latencies and failures of the uploads or of the reads. */
class Outcomes {
  readonly took_ms: number[] = [];
  readonly failures = new Map<string, number>();

  fail(reason: string): void {
    this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
  }

  quantile(q: number): number {
    this.took_ms.sort((a, b) => a - b);
    return this.took_ms[Math.floor(this.took_ms.length * q)] ?? NaN;
  }

  get errors(): number {
    return [...this.failures.values()].reduce((sum, times) => sum + times, 0);
  }
}

/** Figures of the API under the simulated load. */
export async function benchSoak(directory: string, options: SoakOptions): Promise<Row[]> {
  if (options.where === "file") return await soak(`file:${directory}/soak.db`, directory, options);
  await using server = await startServer();
  return await soak(server.url, server.path, options);
}

/** Runs the load on the database at `url`, with its files under `path`. */
async function soak(url: string, path: string, options: SoakOptions): Promise<Row[]> {
  const { minutes, where, instances = 10_000, series = 20, followers = 50 } = options;
  const key = await keyOf(url);
  await using hosted = await startProcess(url);
  const headers = { "x-api-key": key };
  const begun = performance.now();
  const until = begun + minutes * 60_000;
  const memory: number[] = [];
  const [ingest, reads] = [new Outcomes(), new Outcomes()];

  const ids = Array.from({ length: instances }, (_, i) => i.toString(16).padStart(12, "5"));
  const start = Math.floor(Date.now() / 1_000) - 2 * WINDOW_S;
  const sample = sampleOf(series);
  const packers: WindowPacker[] = [];
  /** Hashes of the blocks that the service has named, by instance. */
  const known: (string | undefined)[] = [];
  let sent = 0;
  let stored = 0;

  /** Uploads a window of each instance in turn, one round every ten seconds. */
  async function upload(): Promise<void> {
    while (performance.now() < until) {
      const at = sent++;
      const [turn, i] = [Math.floor(at / instances), at % instances];
      const due = begun + at * WINDOW_S * 1_000 / instances;
      await sleepUntil(due);
      const { window, final, ...instance } = sample(ids[i]!, start, turn);
      const packer = packers[i] ??= new WindowPacker(instance);
      const packed = await packer.pack(window, { final });
      while (!await sendOnce(i, packed)) await sleepUntil(performance.now() + 1_000);
      ingest.took_ms.push(performance.now() - due);
    }
  }

  /** Sends a window, with its block unless the service knows it. */
  async function sendOnce(i: number, { block, frame }: PackedWindow): Promise<boolean> {
    const frames = block.hash === known[i] ? [frame] : [block.frame, frame];
    const response = await fetch(`${hosted.url}/api/v1/ingest`, {
      method: "POST",
      headers: { ...headers, ...UPLOAD_HEADERS },
      body: bodyOf(frames),
    });
    const text = await response.text();
    known[i] = response.ok ? block.hash : undefined;
    if (response.ok) stored++;
    else if (response.status === 424) return await sendOnce(i, { block, frame });
    else ingest.fail(`${response.status}: ${text}`);
    return response.ok;
  }

  /** Reads consecutive spans, then the whole span: the totals must be equal. */
  async function follow(id: string): Promise<void> {
    let next = start;
    let total = 0n;
    while (performance.now() < until) {
      await sleepUntil(performance.now() + READ_EVERY_MS * (0.5 + Math.random()));
      const payload = await read(id, next);
      if (!payload) continue;
      total += totalOf(payload);
      next = Number(payload.payload_ns / 1_000_000_000n);
    }
    const all = await read(id, start, next);
    if ((all ? totalOf(all) : 0n) !== total) {
      reads.fail("the parts do not add up to the whole");
    }
  }

  async function read(id: string, from: number, to?: number): Promise<Signals | null> {
    const asked = performance.now();
    const end = to === undefined ? "" : `&end=${to}`;
    const query = `instance_id=${id}&start=${from}${end}`;
    const response = await fetch(`${hosted.url}/api/v1/signals?${query}`, { headers });
    const text = await response.text();
    reads.took_ms.push(performance.now() - asked);
    if (response.ok) return signals.check(decode(text));
    // The first window of the instance is not stored yet.
    if (response.status !== 404) reads.fail(`${response.status}: ${text}`);
    return null;
  }

  async function watch(): Promise<void> {
    await sleepUntil(Math.min(begun + WARM_UP_MS, until));
    ingest.took_ms.length = 0;
    const from = performance.now();
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      await sleepUntil(from + (until - from) * part);
      memory.push(await residentMb(hosted.pid));
    }
  }

  await Promise.all([
    watch(),
    ...Array.from({ length: MAX_OPEN }, upload),
    ...Array.from({ length: followers }, () => follow(pick(ids))),
  ]);
  const elapsed_s = (performance.now() - begun) / 1_000;
  const bytes = await sizeOf(path);
  for (const [reason, times] of [...ingest.failures, ...reads.failures]) {
    console.error(`${times} times: ${reason}`);
  }
  const load = `soak, ${instances} instances, ${series} series each, ${minutes} minutes, ${where}`;
  return [
    { what: `${load}, windows stored`, figure: stored / elapsed_s, unit: "1/s" },
    { what: `${load}, upload, p50`, figure: ingest.quantile(0.5), unit: "ms" },
    { what: `${load}, upload, p99`, figure: ingest.quantile(0.99), unit: "ms" },
    {
      what: `${load}, read by ${followers} followers, p50`,
      figure: reads.quantile(0.5),
      unit: "ms",
    },
    {
      what: `${load}, read by ${followers} followers, p99`,
      figure: reads.quantile(0.99),
      unit: "ms",
    },
    ...memory.map((figure, i) => ({
      what: `${load}, resident memory, ${["start", "1/4", "1/2", "3/4", "end"][i]}`,
      figure,
      unit: "MB",
    })),
    { what: `${load}, database`, figure: bytes / 2 ** 20, unit: "MB" },
    { what: `${load}, bytes per window`, figure: bytes / stored, unit: "bytes" },
    {
      what: `${load}, errors`,
      figure: ingest.errors + reads.errors,
      unit: "",
      target: { atMost: 0 },
    },
  ];
}

async function keyOf(url: string): Promise<string> {
  await using databases = await openDatabases({ url });
  await createProject(databases, { name: "soak", now_ns: 1n });
  return await newKey(databases.control, "soak");
}

/** Builds uploads of current windows. The profile of 200 frames is left out: it is too large here. */
function sampleOf(series: number) {
  return (instance_id: string, start: number, turn: number): Upload => {
    const sample = sampleWindow(series + 1, turn);
    sample.series.delete([...sample.series.keys()][0]!);
    const from_ns = nsFromTs(start + turn * WINDOW_S);
    const window = { ...sample, from_ns, to_ns: from_ns + nsFromTs(WINDOW_S) };
    for (const entry of window.series.values()) entry.updated_ns = window.to_ns;
    return {
      instance_id,
      profiler_version: "0.0.0",
      start_ns: nsFromTs(start),
      tags: { "instance.id": instance_id, "host.name": "bench" },
      attributes: { "process.command_line": "python3 train.py" },
      final: false,
      window,
    };
  };
}

function totalOf({ metrics }: Signals): bigint {
  let total = 0n;
  for (const { type, stats } of metrics) {
    if (type === "counter") total += BigInt(stats.total);
    if (type === "histogram") total += BigInt(stats.count);
  }
  return total;
}

function pick<T>(items: T[]): T {
  return items[Math.floor(Math.random() * items.length)]!;
}

async function sleepUntil(at: number): Promise<void> {
  const left = at - performance.now();
  if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
}

async function residentMb(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1_024;
}

async function sizeOf(path: string): Promise<number> {
  let bytes = 0;
  for await (const { name, isDirectory } of Deno.readDir(path)) {
    const inside = `${path}/${name}`;
    bytes += isDirectory ? await sizeOf(inside) : (await Deno.stat(inside)).size;
  }
  return bytes;
}
