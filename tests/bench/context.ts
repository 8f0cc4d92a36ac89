/** Benchmark of signal contexts: CPU of an answer for one large job and for many runs, and its size. */

import process from "node:process";
import { SECOND_NS } from "@service/core/time";
import { startService, type TestService } from "../../edge/testing/api.ts";
import { jobWindow } from "./context_data.ts";
import type { Row } from "./row.ts";
import { dayWindow, START_TS, WINDOW_S } from "./storage_data.ts";
import { fillStorage } from "./storage_fill.ts";

/** Answers that are measured, after some that warm up. */
const [WARM_UP, ANSWERS] = [3, 10];

const HOUR_WINDOWS = 3_600 / WINDOW_S;
const RUNS = 50;
/** Windows of each of many runs. */
const RUN_WINDOWS = 120;

/** Figures of answers from a file. */
export async function benchContext(directory: string): Promise<Row[]> {
  const job = await measured(`${directory}/context-job.db`, async (service) => {
    await fillStorage(service, "a".repeat(12), HOUR_WINDOWS, jobWindow);
    return HOUR_WINDOWS;
  });
  const runs = await measured(`${directory}/context-runs.db`, async (service) => {
    for (let run = 0; run < RUNS; run++) {
      const id = run.toString(16).padStart(12, "0");
      await fillStorage(service, id, RUN_WINDOWS, (at) => dayWindow(run + at));
    }
    return RUN_WINDOWS;
  });
  const what = "GET /api/v1/signal_context";
  return [
    {
      what: `${what}, an hour on 8 GPUs, CPU`,
      figure: job.cpu_ms,
      unit: "ms",
      target: { atMost: 100 },
    },
    {
      what: `${what}, an hour on 8 GPUs, the same as /api/v1/signals / text`,
      figure: job.payload_bytes / job.text_bytes,
      unit: "times",
      target: { atLeast: 15 },
    },
    {
      what: `${what}, ${RUNS} runs of 300 series, CPU`,
      figure: runs.cpu_ms,
      unit: "ms",
      target: { atMost: 1_000 },
    },
  ];
}

/** CPU of an answer about all that `fill` stores, and sizes. */
async function measured(path: string, fill: (service: TestService) => Promise<number>) {
  using service = await startService(`file:${path}`, { reads_per_second: 1e5 });
  const end = START_TS + await fill(service) * WINDOW_S;
  service.clock.now_ns = BigInt(end) * SECOND_NS;
  const span = `start_time_ns=${START_TS}000000000&end_time_ns=${end}000000000`;
  const ask = () => textOf(service, `/api/v1/signal_context/?${span}`);
  for (let i = 0; i < WARM_UP; i++) await ask();
  const before = process.cpuUsage();
  for (let i = 0; i < ANSWERS; i++) await ask();
  const { user, system } = process.cpuUsage(before);
  const { rows: [instance] } = await service.db.query("SELECT instance_id FROM instances");
  const payload = await textOf(
    service,
    `/api/v1/signals?instance_id=${instance!.instance_id}&start=${START_TS}&end=${end}`,
  );
  return {
    cpu_ms: (user + system) / 1_000 / ANSWERS,
    text_bytes: (await ask()).length,
    payload_bytes: payload.length,
  };
}

async function textOf({ request, key }: TestService, path: string): Promise<string> {
  const response = await request(path, { headers: { "x-api-key": key } });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
