/** Benchmark of ingest: windows per second, on a SQLite file and on a libSQL server. */

import { encodeUpload } from "@service/core";
import { createClient } from "@libsql/client";
import { startProcess } from "../../edge/testing/process.ts";
import { startServer } from "../../edge/testing/each_storage.ts";
import { newKey } from "../../edge/testing/api.ts";
import { openDatabase } from "../../edge/database/database.ts";
import { gzip } from "../../local/base/gzip.ts";
import { load } from "./load.ts";
import type { Row } from "./row.ts";
import { sampleUpload } from "./samples.ts";

const SERIES = 300;
const SECONDS = 2.5;

/** Parallel uploaders, the windows prepared for them, and the target rate per second. */
const LOADS = [
  { uploaders: 1, windows: 3_000 },
  { uploaders: 8, windows: 12_000 },
  { uploaders: 64, windows: 12_000, file: 1_000, sqld: 600 },
];

/** Figures of `POST /api/v1/ingest` with windows of 300 series. */
export async function benchIngest(directory: string): Promise<Row[]> {
  const file = `file:${directory}/ingest.db`;
  const rows = await benchOn(file, "file");
  const bodies = await bodiesOf(0, 1_000);
  const what = "bare inserts of the same bytes, one per transaction";
  const comparison = { what, figure: await bareInserts(`file:${directory}/bare.db`, bodies) };
  for (const row of rows) if (row.target) row.comparison = comparison;
  if (Deno.build.target !== "x86_64-unknown-linux-gnu") return rows;
  await using server = await startServer();
  return [...rows, ...await benchOn(server.url, "sqld")];
}

async function benchOn(url: string, where: "file" | "sqld"): Promise<Row[]> {
  await using hosted = await startProcess(url);
  using db = await openDatabase({ url });
  const headers = {
    "x-api-key": await newKey(db),
    "content-type": "application/json",
    "content-encoding": "gzip",
  };
  const rows: Row[] = [];
  for (const { uploaders, windows, ...targets } of LOADS) {
    const bodies = await bodiesOf(uploaders, windows);
    const { perSecond, p99_ms } = await load(
      (i) => fetch(`${hosted.url}/api/v1/ingest`, { method: "POST", headers, body: bodies[i]! }),
      { parallel: uploaders, seconds: SECONDS },
    );
    const clients = `${uploaders} uploader${uploaders === 1 ? "" : "s"}`;
    const what = `POST /api/v1/ingest, ${SERIES} series, ${clients}, ${where}`;
    const atLeast = targets[where];
    rows.push(
      { what, figure: perSecond, unit: "1/s", ...(atLeast && { target: { atLeast } }) },
      { what: `${what}, p99`, figure: p99_ms, unit: "ms" },
    );
  }
  return rows;
}

/** Bodies of `windows` uploads, from one instance per uploader in turn; each load has its own. */
function bodiesOf(uploaders: number, windows: number): Promise<Uint8Array<ArrayBuffer>[]> {
  return Promise.all(Array.from({ length: windows }, (_, i) => {
    const [turn, uploader] = uploaders === 0 ? [i, 0] : [Math.floor(i / uploaders), i % uploaders];
    const instance = (uploaders * 1_000 + uploader).toString(16).padStart(12, "0");
    return gzip(encodeUpload(sampleUpload(instance, SERIES, turn)));
  }));
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
