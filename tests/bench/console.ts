/** Benchmark of the console reader: bytes of output that it reads per second. */

import { redactText } from "@service/core/redact";
import { createConsole } from "../../local/sources/console/console.ts";
import { medianMs, type Row } from "./row.ts";

const CHUNK_BYTES = 65_536;
const BYTES = 64e6;

/** Figures of the console reader and of redaction. */
export async function benchConsole(): Promise<Row[]> {
  const ordinary = chunks(ordinaryLine);
  const failing = chunks((n) => n % 100 === 0 ? `ERROR: request ${n} failed` : ordinaryLine(n));
  return [
    {
      what: "console reader, lines without errors",
      figure: await speed(ordinary, read),
      unit: "MB/s",
      target: { atLeast: 200 },
      comparison: { what: 'indexOf("\\n") alone', figure: await speed(ordinary, countLines) },
    },
    {
      what: "console reader, every 100th line an error",
      figure: await speed(failing, read),
      unit: "MB/s",
    },
    {
      what: "redaction, text with unclosed quotes",
      figure: await redaction('password=\\"'),
      unit: "MB/s",
      target: { atLeast: 1 },
    },
  ];
}

/** Megabytes per second of redaction, in a text that repeats `part`. */
async function redaction(part: string): Promise<number> {
  const text = part.repeat(1e6 / part.length);
  return text.length / 1e6 / (await medianMs(() => redactText(text), 9) / 1_000);
}

function ordinaryLine(n: number): string {
  const time = `11-21 01:02:${String(n % 60).padStart(2, "0")}`;
  switch (n % 4) {
    case 0:
      return `INFO ${time} [loggers.py:${n % 400}] Avg prompt throughput: ${n % 997}.4 tokens/s, ` +
        `Running: ${n % 64} reqs, Waiting: 0 reqs, GPU KV cache usage: ${n % 100}.1%`;
    case 1:
      return `INFO:     127.0.0.1:${n % 60_000} - "POST /v1/chat/completions HTTP/1.1" 200 OK`;
    case 2:
      return `step ${n} loss ${(n % 1_000) / 300} lr 0.0003 grad_norm 1.27 tokens per second ${
        n % 9_999
      }`;
    default:
      return `{"level":"info","ts":${n},"msg":"request done","route":"/v1/models","took_ms":${
        n % 70
      }}`;
  }
}

function chunks(line: (n: number) => string): Uint8Array[] {
  let text = "";
  for (let n = 0; text.length < BYTES / 8; n++) text += `${line(n)}\n`;
  const bytes = new TextEncoder().encode(text);
  const once = Array.from(
    { length: Math.floor(bytes.length / CHUNK_BYTES) },
    (_, at) => bytes.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES),
  );
  return Array.from({ length: 8 }, () => once).flat();
}

async function speed(all: Uint8Array[], work: (all: Uint8Array[]) => void): Promise<number> {
  const bytes = all.length * CHUNK_BYTES;
  return bytes / 1e6 / (await medianMs(() => work(all), 9) / 1_000);
}

function read(all: Uint8Array[]): void {
  const console = createConsole({ report: () => {}, now_ns: () => 0n });
  for (const bytes of all) console.write({ stream: 2, time_ns: 0n, bytes });
  console.end({ code: 0, signal: null }, 0n);
}

let lines = 0;

function countLines(all: Uint8Array[]): void {
  for (const bytes of all) {
    for (let at = 0; (at = bytes.indexOf(10, at) + 1) > 0;) lines++;
  }
}
