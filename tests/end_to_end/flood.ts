/** Floods: much output with a few errors in it, and what a run finds of them. */

import assert from "node:assert/strict";
import { decode, type Signals, signals } from "@service/core";
import { startRun } from "../stack.ts";

const LINES = [
  "INFO 11-21 01:02:03 [loggers.py:12] Avg prompt throughput: 31.4 tokens/s, Running: 7 reqs",
  'INFO:     127.0.0.1:4711 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
  "step 120 loss 2.31 lr 0.0003 grad_norm 1.27 tokens per second 9120",
];

/** Output to write: its size, and the name that each of its errors has. */
export interface Flood {
  megabytes: number;
  names: readonly string[];
}

/** What a run found: the names in its errors, in order, and the bytes that it did not look at. */
export interface FloodFound {
  names: string[];
  lost_bytes: number;
  /** Processor time of the watcher. */
  cpu_seconds: number;
}

/** So many names of three letters. */
export function namesOf(count: number): string[] {
  return Array.from(
    { length: count },
    (_, n) =>
      Array.from(
        { length: 3 },
        (_, at) => String.fromCharCode(97 + Math.floor(n / 26 ** (2 - at)) % 26),
      ).join(""),
  );
}

/** Writes a flood to a file. */
export async function writeFlood(path: string, { megabytes, names }: Flood): Promise<void> {
  using file = await Deno.create(path);
  const ordinary = `${LINES.join("\n")}\n`;
  const between = ordinary.repeat(megabytes * 1e6 / names.length / ordinary.length);
  for (const name of names) {
    const text = `${between}ERROR 11-21 01:02:03 [core.py:708] no ${name} here\n`;
    for (let bytes = new TextEncoder().encode(text); bytes.length > 0;) {
      bytes = bytes.subarray(await file.write(bytes));
    }
  }
}

/** Runs `cat` of a file in `directory` with its output redirected. */
export async function runFlood(
  path: string,
  { directory, redirection }: { directory: string; redirection: string },
): Promise<FloodFound> {
  const SERVICE_SNAPSHOT_FILE = `${directory}/last.json`;
  await using run = startRun(["cat", path], {
    directory,
    env: { SERVICE_SNAPSHOT_FILE, SERVICE_DEBUG: "" },
    redirection,
  });
  assert.equal((await run.ended).status.code, 0);
  const payload = signals.check(decode(await Deno.readTextFile(SERVICE_SNAPSHOT_FILE)));
  const names = payload.errors.flatMap(({ message }) => /^no (\w+) here$/.exec(message)?.[1] ?? []);
  return {
    names: names.toReversed(),
    lost_bytes: totalOf(payload, "profiler_lost_console_bytes"),
    cpu_seconds: totalOf(payload, "profiler_cpu_seconds"),
  };
}

function totalOf({ metrics }: Signals, name: string): number {
  const counter = metrics.find((metric) => metric.name === name);
  assert(counter?.type === "counter");
  return Number(counter.stats.total);
}
