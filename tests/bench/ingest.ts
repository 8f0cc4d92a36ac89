/** The hosted API: windows taken per second, on the embedded file. */

import { encodeUpload } from "@service/core";
import { createClient } from "@libsql/client";
import { gzip } from "../../local/gzip.ts";
import { startHosted } from "../stack.ts";
import { load } from "./load.ts";
import type { Row } from "./row.ts";
import { sampleUpload } from "./samples.ts";

const SERIES = 300;
const UPLOADERS = 32;
const WINDOWS = 6_000;

/** Figures of `POST /api/v1/ingest` with windows of 300 series. */
export async function benchIngest(directory: string): Promise<Row[]> {
  const bodies = await Promise.all(Array.from({ length: WINDOWS }, (_, i) => {
    const instance = (i % UPLOADERS).toString(16).padStart(12, "0");
    return gzip(encodeUpload(sampleUpload(instance, SERIES, Math.floor(i / UPLOADERS))));
  }));
  await using hosted = await startHosted(directory);
  const headers = {
    "x-api-key": hosted.key,
    "content-type": "application/json",
    "content-encoding": "gzip",
  };
  const { perSecond, p99_ms } = await load(
    (i) => fetch(`${hosted.url}/api/v1/ingest`, { method: "POST", headers, body: bodies[i]! }),
    { parallel: UPLOADERS, seconds: 4 },
  );
  const beside = `bare inserts of the same bytes, one a transaction`;
  const bare = await bareInserts(`file:${directory}/bare.db`, bodies);
  const what = `POST /api/v1/ingest, ${SERIES} series, ${UPLOADERS} uploaders, embedded file`;
  return [
    {
      what,
      figure: perSecond,
      unit: "1/s",
      target: { atLeast: 500 },
      beside: { what: beside, figure: bare },
    },
    { what: `${what}, p99`, figure: p99_ms, unit: "ms" },
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
