/**
 * Benchmark of ingest: windows per second and their cost, on a SQLite file and on a libSQL server, and
 * bytes of uploads.
 */

import { createClient } from "@libsql/client";
import { openDatabase } from "../../edge/database/database.ts";
import { newKey } from "../../edge/testing/api.ts";
import { startServer } from "../../edge/testing/each_storage.ts";
import { startProcess } from "../../edge/testing/process.ts";
import { cpuSeconds, load } from "./load.ts";
import type { Row } from "./row.ts";
import { jsonUploadOf, UPLOAD_HEADERS, uploadsOf } from "./uploads.ts";

const SERIES = 300;
const SECONDS = 2.5;

/** Parallel uploaders, the windows prepared for each, and what is to be reached. */
const LOADS = [
  { uploaders: 1, windows: 4_000, cpu_ms: 1 },
  { uploaders: 8, windows: 2_000 },
  { uploaders: 64, windows: 450, file: 2_500, sqld: 1_200, cpu_ms: 0.35 },
];

/** Most bytes of an upload, in percent of those in JSON. */
const MAX_PERCENT_OF_JSON = 60;

/** Figures of `POST /api/v1/ingest` with windows of 300 series. */
export async function benchIngest(directory: string): Promise<Row[]> {
  const file = `file:${directory}/ingest.db`;
  const rows = await benchOn(file, "file");
  const [, ...bodies] = await uploadsOf("f".repeat(12), { windows: 1_000, series: SERIES });
  const what = "bare inserts of the same bytes, one per transaction";
  const comparison = { what, figure: await bareInserts(`file:${directory}/bare.db`, bodies) };
  for (const row of rows) if (row.target && row.unit === "1/s") row.comparison = comparison;
  rows.push(...bytesOf(bodies));
  if (Deno.build.target !== "x86_64-unknown-linux-gnu") return rows;
  await using server = await startServer();
  return [...rows, ...await benchOn(server.url, "sqld")];
}

async function benchOn(url: string, where: "file" | "sqld"): Promise<Row[]> {
  await using hosted = await startProcess(url);
  using db = await openDatabase({ url });
  const headers = { "x-api-key": await newKey(db), ...UPLOAD_HEADERS };
  const rows: Row[] = [];
  for (const { uploaders, windows, cpu_ms: cpuLimit_ms, ...targets } of LOADS) {
    const bodies = await Promise.all(
      Array.from({ length: uploaders }, (_, uploader) => {
        // Each load has instances of its own.
        const id = (uploaders * 1_000 + uploader).toString(16).padStart(12, "0");
        return uploadsOf(id, { windows, series: SERIES });
      }),
    );
    const { perSecond, p99_ms, cpu_ms } = await load((uploader, at) => {
      const body = bodies[uploader]![at];
      if (!body) throw new Error(`there must be more than ${windows} windows for each uploader`);
      return fetch(`${hosted.url}/api/v1/ingest`, { method: "POST", headers, body });
    }, { parallel: uploaders, seconds: SECONDS, cpu_s: () => cpuSeconds(hosted.pid) });
    const clients = `${uploaders} uploader${uploaders === 1 ? "" : "s"}`;
    const what = `POST /api/v1/ingest, ${SERIES} series, ${clients}, ${where}`;
    const atLeast = targets[where];
    rows.push(
      { what, figure: perSecond, unit: "1/s", ...(atLeast && { target: { atLeast } }) },
      { what: `${what}, p99`, figure: p99_ms, unit: "ms" },
      {
        what: `${what}, CPU of a window`,
        figure: cpu_ms,
        unit: "ms",
        ...(cpuLimit_ms && { target: { atMost: cpuLimit_ms } }),
      },
    );
  }
  return rows;
}

/** Bytes of uploads without their block, alone and beside JSON. */
function bytesOf(bodies: Uint8Array[]): Row[] {
  const mean = bodies.reduce((sum, { length }) => sum + length, 0) / bodies.length;
  const json = bodies.reduce(
    (sum, _, at) => sum + jsonUploadOf("f".repeat(12), SERIES, at + 1).length,
    0,
  ) / bodies.length;
  const what = `upload, ${SERIES} series`;
  return [
    { what: `${what}, bytes`, figure: mean, unit: "B" },
    {
      what: `${what}, bytes of those in JSON`,
      figure: 100 * mean / json,
      unit: "%",
      target: { atMost: MAX_PERCENT_OF_JSON },
    },
  ];
}

async function bareInserts(url: string, bodies: Uint8Array[]): Promise<number> {
  const client = createClient({ url });
  await client.execute("PRAGMA journal_mode = WAL");
  await client.execute("CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB)");
  const start = performance.now();
  let inserted = 0;
  while (performance.now() - start < 2_000) {
    const body = bodies[inserted++ % bodies.length]!;
    await client.execute({ sql: "INSERT INTO bodies (body) VALUES (?)", args: [body] });
  }
  client.close();
  return inserted / (performance.now() - start) * 1_000;
}
