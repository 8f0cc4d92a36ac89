/** Benchmark of hosted reads over gaps: rows and time, beside the same windows without a gap. */

import process from "node:process";
import { nsFromTs } from "@service/core/time";
import { startService, type TestService } from "../../edge/testing/api.ts";
import { GAP_PATIENCE_NS } from "../../edge/windows/passed.ts";
import { maintain } from "../../edge/windows/maintenance.ts";
import type { Row } from "./row.ts";
import { dayWindow, START_TS, WINDOW_S } from "./storage_data.ts";
import { fillStorage } from "./storage_fill.ts";

const SERIES = 20;
/** Reads that are measured, after as many that warm up. */
const READS = 50;

/** Counts of windows, and those that are missing. */
const CASES = [
  { windows: 500, missing: 1, isMissing: (at: number) => at === 1 },
  { windows: 20_000, missing: 200, isMissing: (at: number) => at % 100 === 50 },
];

/** Cost of one read. */
interface Cost {
  rows: number;
  cpu_ms: number;
  p50_ms: number;
}

/** Figures of reads of a whole instance, on a file. */
export async function benchGaps(directory: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { windows, missing, isMissing } of CASES) {
    const file = `file:${directory}/gaps-${windows}`;
    const whole = await costOf(`${file}-whole.db`, windows, () => false);
    const gaps = await costOf(`${file}.db`, windows, isMissing);
    const what = `GET /api/v1/signals, ${windows} windows, ${missing} missing, file`;
    const beside = (figure: number) => ({ comparison: { what: "without a gap", figure } });
    rows.push(
      { what: `${what}, rows`, figure: gaps.rows, unit: "rows", ...beside(whole.rows) },
      { what: `${what}, CPU`, figure: gaps.cpu_ms, unit: "ms", ...beside(whole.cpu_ms) },
      { what: `${what}, p50`, figure: gaps.p50_ms, unit: "ms", ...beside(whole.p50_ms) },
    );
  }
  return rows;
}

/** The cost of reading all windows but those that are missing, each time from another start. */
async function costOf(
  url: string,
  windows: number,
  isMissing: (at: number) => boolean,
): Promise<Cost> {
  using service = await startService(url);
  const name = "a".repeat(12);
  const numbers = Array.from({ length: windows }, (_, at) => at).filter((at) => !isMissing(at));
  await fillStorage(service, name, numbers.length, (i) => dayWindow(numbers[i]!, SERIES));
  const end_ns = nsFromTs(START_TS + windows * WINDOW_S);
  service.clock.now_ns = end_ns + 2n * GAP_PATIENCE_NS;
  await maintainAll(service);
  let shift = 0;
  const readAll = async () => {
    const took: number[] = [];
    for (let i = 0; i < READS; i++) took.push(await readOnce(service, name, START_TS + shift++));
    return took.sort((a, b) => a - b)[READS >> 1]!;
  };
  await readAll();
  const { metrics } = service.service;
  const [rowsBefore, cpuBefore] = [metrics.rows, process.cpuUsage()];
  const p50_ms = await readAll();
  const { user, system } = process.cpuUsage(cpuBefore);
  const cpu_ms = (user + system) / 1_000 / READS;
  return { rows: (metrics.rows - rowsBefore) / READS, cpu_ms, p50_ms };
}

/** Milliseconds of a read from `start` on. */
async function readOnce(
  { request, key }: TestService,
  name: string,
  start: number,
): Promise<number> {
  const begun = performance.now();
  const response = await request(`/api/v1/signals?instance_id=${name}&start=${start}`, {
    headers: { "x-api-key": key },
  });
  if (!response.ok) throw new Error(await response.text());
  await response.bytes();
  return performance.now() - begun;
}

async function maintainAll({ db, clock, service: { memory: { blocks } } }: TestService) {
  while (!await maintain(db, { now_ns: clock.now_ns, retention_days: 30, blocks }));
}
