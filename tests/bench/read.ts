/**
 * Benchmark of one hosted read: where its CPU time goes, step by step, for spans of a minute to a day.
 * `deno run -A tests/bench/read.ts [folder]` prints a table; a folder keeps the stored day for later runs.
 */

import process from "node:process";
import { gzipSync } from "node:zlib";
import { absorbOwned, emptyWindow, encode, snapshot } from "@service/core";
import { readBlock, readWindow } from "@service/core/packed";
import { SECOND_NS, secondsFromNs } from "@service/core/time";
import type { Row } from "../../edge/database/database.ts";
import { statement } from "../../edge/database/database.ts";
import { startService, type TestService } from "../../edge/testing/api.ts";
import { createKey } from "../../edge/tenancy/projects.ts";
import { findInstance } from "../../edge/windows/instance.ts";
import { blockRows, PIECES } from "../../edge/windows/pieces.ts";
import { readSpan, readSpans } from "../../edge/windows/read.ts";
import { storedFrame } from "../../edge/windows/stored_frame.ts";
import { ANY_LEVEL } from "../../edge/windows/tiling.ts";
import { fillStorage } from "./storage_fill.ts";
import { dayWindow, START_TS, WINDOW_S } from "./storage_data.ts";

const NAME = "aaaaaaaaaaaa";
const END_NS = BigInt(START_TS + 86_400) * SECOND_NS;
const SPANS: Record<string, number> = { "1 min": 60, "10 min": 600, "1 h": 3_600, "24 h": 86_400 };

/** Times that a step is done before it is measured, and then. */
const TIMES = 100;

const folder = Deno.args[0] ?? await Deno.makeTempDir({ prefix: "service-bench-" });
try {
  using service = await startService(`file:${folder}/read.db`, { reads_per_second: 100_000 });
  const { rows: [stored] } = await service.db.query(
    "SELECT p.id, p.name FROM instances i JOIN projects p ON p.id = i.project",
  );
  if (!stored) await fillStorage(service, NAME, 86_400 / WINDOW_S, dayWindow);
  const { rows: [project] } = await service.db.query(
    "SELECT p.id, p.name FROM instances i JOIN projects p ON p.id = i.project",
  );
  const { id, name } = project as unknown as { id: bigint; name: string };
  const key = await createKey(service.db, { project: name, name: "bench", now_ns: 1n });
  const table: Record<string, Record<string, string>> = {};
  for (const [span, seconds] of Object.entries(SPANS)) {
    table[span] = await stepsOf({ ...service, key }, { id, name }, seconds);
  }
  console.table(transposed(table));
} finally {
  if (!Deno.args[0]) await Deno.remove(folder, { recursive: true });
}

/** CPU milliseconds of each step of a read. */
async function stepsOf(
  { db, request, key, service }: TestService,
  project: { id: bigint; name: string },
  seconds: number,
): Promise<Record<string, string>> {
  const start_ns = END_NS - BigInt(seconds) * SECOND_NS;
  const query = `instance_id=${NAME}&start=${secondsFromNs(start_ns)}&end=${secondsFromNs(END_NS)}`;
  const ask = async (headers: Record<string, string> = {}) => {
    const response = await request(`/api/v1/signals?${query}`, {
      headers: { "x-api-key": key, ...headers },
    });
    if (!response.ok && response.status !== 304) throw new Error(await response.text());
    await response.bytes();
  };
  const instance = (await findInstance(db, project, NAME))!;
  const args = { instance: instance.id, start_ns, end_ns: END_NS, below: ANY_LEVEL, limit: -1 };
  const { blocks } = service.memory;
  const reading = { project: project.id, blocks, withOlderEntries: true };
  const again = { ...reading, ...service.memory };
  const span = { instance, span: { start_ns, payload_ns: END_NS }, said: [] };
  const { rows } = await db.query(statement(PIECES, args));
  const loaded = await blocks.load(db, project.id, blockRows(rows));
  const blockOf = (row: Row) => loaded.get(new Uint8Array(row.hash as ArrayBuffer).toHex())!;
  const frames = rows.map((row) => storedFrame(row.body as ArrayBuffer));
  const read = () => frames.map((frame, i) => readWindow(frame, blockOf(rows[i]!)).window);
  const merged = await readSpan(db, span, again);
  const payload = snapshot(merged.window, { context: instance.tags });
  const text = encode(payload);
  return {
    "the whole answer": await cpuMs(ask),
    "HTTP, key, instance (304)": await cpuMs(() => ask({ "if-none-match": "*" })),
    "rows": String(rows.length),
    "SQL of the pieces": await cpuMs(() => db.query(statement(PIECES, args))),
    "block, if not in memory": await cpuMs(() => readBlock([...loaded.values()][0]!.frame)),
    "inflate and check frames": await cpuMs(() =>
      rows.map((row) => storedFrame(row.body as ArrayBuffer))
    ),
    "read windows": await cpuMs(read),
    "read and merge windows": await cpuMs(() => {
      const window = emptyWindow(start_ns);
      for (const next of read()) absorbOwned(window, next);
    }),
    "SQL to merged window": await cpuMs(() => readSpans(db, [span], reading).next()),
    "SQL to merged window, again": await cpuMs(() => readSpan(db, span, again)),
    "snapshot": await cpuMs(() => snapshot(merged.window, { context: instance.tags })),
    "JSON": await cpuMs(() => encode(payload)),
    "gzip, if asked": await cpuMs(() => gzipSync(text)),
  };
}

async function cpuMs(work: () => unknown): Promise<string> {
  for (let i = 0; i < TIMES; i++) await work();
  const before = process.cpuUsage();
  for (let i = 0; i < TIMES; i++) await work();
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1_000 / TIMES).toFixed(2);
}

function transposed(table: Record<string, Record<string, string>>) {
  const result: Record<string, Record<string, string>> = {};
  for (const [column, steps] of Object.entries(table)) {
    for (const [step, value] of Object.entries(steps)) (result[step] ??= {})[column] = value;
  }
  return result;
}
