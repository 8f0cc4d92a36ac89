/** Benchmark of the hosted storage: bytes per sample, and rows and time of reads. */

import process from "node:process";
import { SECOND_NS, secondsFromNs } from "@service/core/time";
import { startServer } from "../../edge/testing/each_storage.ts";
import { startService, type TestService } from "../../edge/testing/api.ts";
import { ANY_LEVEL, TILING } from "../../edge/windows/tiling.ts";
import { statement } from "../../edge/database/database.ts";
import type { Row } from "./row.ts";
import { fillStorage } from "./storage_fill.ts";
import { dayWindow, samplesOf, START_TS, WINDOW_S } from "./storage_data.ts";

/** Windows of a day. */
const DAY_WINDOWS = 86_400 / WINDOW_S;

const READS = 15;
const SPANS: Record<string, number> = {
  "1 min": 60,
  "10 min": 600,
  "1 h": 3_600,
  "6 h": 21_600,
  "24 h": 86_400,
};
const LONG_SPANS: Record<string, number> = { "7 d": 7 * 86_400, "30 d": 30 * 86_400 };
const CONDITIONS = `300 series, ${WINDOW_S} s windows, 24 h`;

/** Figures of a day of one instance, on a file and on a libSQL server. */
export async function benchStorage(directory: string): Promise<Row[]> {
  const rows = await benchOn(`file:${directory}/storage.db`, "file", 50);
  if (Deno.build.target !== "x86_64-unknown-linux-gnu") return rows;
  await using server = await startServer();
  return [...rows, ...await benchOn(server.url, "sqld", 100)];
}

async function benchOn(url: string, where: string, dayLimit_ms: number): Promise<Row[]> {
  using service = await startService(url);
  const empty = await storedBytes(service);
  const name = "aaaaaaaaaaaa";
  let samples = 0;
  const start = performance.now();
  await fillStorage(service, name, DAY_WINDOWS, (at) => {
    const window = dayWindow(at);
    samples += samplesOf(window);
    return window;
  });
  const seconds = (performance.now() - start) / 1_000;
  const bytes = await storedBytes(service) - empty;
  const rows: Row[] = [{
    what: `stored bytes with indexes, ${CONDITIONS}, ${where}`,
    figure: bytes / samples,
    unit: "B/sample",
    target: { atMost: 6 },
  }, {
    what: `window pack, store and roll-up, ${CONDITIONS}, ${where}`,
    figure: DAY_WINDOWS / seconds,
    unit: "1/s",
  }];
  for (const [span, length] of Object.entries(SPANS)) {
    rows.push(...await benchRead(service, { name, span, length, where }));
  }
  rows.at(-1)!.target = { atMost: dayLimit_ms };
  if (where === "file") rows.push(...await benchLong(service));
  return rows;
}

/** Thirty days with 5 series: the rows that a read needs do not depend on the count of series. */
async function benchLong(service: TestService): Promise<Row[]> {
  const name = "bbbbbbbbbbbb";
  const [coarse, fine] = [30 * 144, 720];
  let end_ns = 0n;
  await fillStorage(service, name, coarse + fine, (at) => {
    const window = dayWindow(at, 5);
    const seconds = at < coarse ? at * 600 : coarse * 600 + (at - coarse) * WINDOW_S;
    const from_ns = BigInt(START_TS + seconds) * SECOND_NS;
    end_ns = from_ns + BigInt(at < coarse ? 600 : WINDOW_S) * SECOND_NS;
    for (const series of window.series.values()) series.updated_ns = end_ns;
    return { ...window, from_ns, to_ns: end_ns };
  });
  const rows: Row[] = [];
  for (const [span, length] of Object.entries(LONG_SPANS)) {
    rows.push(...await benchRead(service, { name, span, length, where: "file, 5 series", end_ns }));
  }
  return rows;
}

interface ReadOptions {
  name: string;
  span: string;
  length: number;
  where: string;
  end_ns?: bigint;
}

async function benchRead(service: TestService, options: ReadOptions): Promise<Row[]> {
  const { name, span, length, where } = options;
  const end_ns = options.end_ns ?? BigInt(START_TS + 86_400) * SECOND_NS;
  const start_ns = end_ns - BigInt(length) * SECOND_NS;
  const query = `instance_id=${name}&start=${secondsFromNs(start_ns)}&end=${secondsFromNs(end_ns)}`;
  const took: number[] = [];
  const before = process.cpuUsage();
  for (let i = 0; i < READS; i++) {
    const start = performance.now();
    const response = await service.request(`/api/v1/signals?${query}`, {
      headers: { "x-api-key": service.key },
    });
    if (!response.ok) throw new Error(await response.text());
    await response.bytes();
    took.push(performance.now() - start);
  }
  const cpu = process.cpuUsage(before);
  const what = `GET /api/v1/signals, ${span}, ${where}`;
  return [
    {
      what: `${what}, rows`,
      figure: await rowCount(service, { name, start_ns, end_ns }),
      unit: "rows",
      target: { atMost: 100 },
    },
    { what: `${what}, CPU`, figure: (cpu.user + cpu.system) / 1_000 / READS, unit: "ms" },
    { what: `${what}, p50`, figure: took.sort((a, b) => a - b)[READS >> 1]!, unit: "ms" },
  ];
}

async function rowCount(
  { db }: TestService,
  { name, start_ns, end_ns }: { name: string; start_ns: bigint; end_ns: bigint },
): Promise<number> {
  const { rows: [row] } = await db.query(statement(
    `${TILING} SELECT count(id) AS pieces FROM tile`,
    { instance: await instanceOf(db, name), start_ns, end_ns, below: ANY_LEVEL },
  ));
  return Number(row!.pieces);
}

async function instanceOf(db: TestService["db"], name: string): Promise<bigint> {
  const { rows: [row] } = await db.query({
    sql: "SELECT id FROM instances WHERE instance_id = ?",
    args: [name],
  });
  return row!.id as bigint;
}

/** Bytes of the database pages in use. */
async function storedBytes({ db }: TestService): Promise<number> {
  const results = await db.read(["PRAGMA page_count", "PRAGMA freelist_count", "PRAGMA page_size"]);
  const [pages, free, size] = results.map(({ rows }) => Number(Object.values(rows[0]!)[0]));
  return (pages! - free!) * size!;
}
