/** The console of the workload, read for its warnings and errors. */

import type { ErrorEntry, Tags } from "@service/core";
import { Assembler } from "./assembler.ts";
import type { Finding } from "./block.ts";
import { exitEntry, type ExitStatus } from "./exit.ts";
import { LineSplitter } from "./lines.ts";
import { Repeats } from "./repeats.ts";
import { Tail } from "./tail.ts";
import { plainText } from "./text.ts";
import { redactText } from "../../base/redact.ts";

/** Where bytes were written: the terminal, standard output, standard error. */
export type StreamNumber = 0 | 1 | 2;

/** Bytes that the workload wrote at one time. */
export interface ConsoleChunk {
  stream: StreamNumber;
  time_ns: bigint;
  bytes: Uint8Array;
}

/** What becomes of what is found. */
export interface ConsoleOptions {
  report: (entry: ErrorEntry) => void;
  now_ns: () => bigint;
}

/** A console that is being read. */
export interface Console {
  /** Takes the next bytes; they may end anywhere. */
  write(chunk: ConsoleChunk): void;
  /** Once a tick: reports what has got no more lines for a second, and the repeats. */
  idle(now_ns: bigint): void;
  /** The workload has ended: reports what is open, and how it ended unless it ended well. */
  end(status: ExitStatus, now_ns: bigint): void;
  /** So many bytes were overwritten before they were read: said once, counted in {@linkcode lost_bytes}. */
  lost(bytes: number): void;
  /** Bytes that were lost so far. */
  readonly lost_bytes: number;
}

/** Characters of a message or an exception that are reported. */
export const MAX_TEXT_LENGTH = 16_384;

/** How long a traceback may pause. */
const PATIENCE_NS = 1_000_000_000n;

const NAMES = ["terminal", "stdout", "stderr"] as const;

/** A console that reports the warnings and errors written to it. */
export function createConsole({ report, now_ns }: ConsoleOptions): Console {
  const repeats = new Repeats(report);
  const streams = NAMES.map((stream) =>
    createStream(({ level, message, exception, pid }, log_ns) =>
      add({ level, message, exception, log_ns }, { stream, ...(pid && { "process.pid": pid }) })
    )
  );
  let lost_bytes = 0;

  function add(entry: Omit<ErrorEntry, "tags">, tags: Tags): void {
    const { level, log_ns } = entry;
    const [message, exception] = [shown(entry.message), shown(entry.exception)];
    repeats.add({ level, message, exception, log_ns, tags });
  }

  return {
    write({ stream, time_ns, bytes }) {
      streams[stream]!.write(bytes, time_ns);
    },
    idle(now_ns) {
      for (const stream of streams) stream.close(now_ns - PATIENCE_NS);
      repeats.flush();
    },
    end(status, now_ns) {
      for (const stream of streams) stream.end();
      const said = [2, 0, 1].map((number) => streams[number]!.lastLines).find((text) =>
        text !== ""
      );
      const exit = exitEntry(status, said ?? "");
      if (exit) add({ ...exit, log_ns: now_ns }, exit.tags ?? {});
      repeats.flush();
    },
    lost(bytes) {
      if (bytes > 0 && lost_bytes === 0) {
        const message =
          "service-run: some console output was lost: it came faster than it was read";
        add({ level: "warning", message, exception: "", log_ns: now_ns() }, {});
      }
      lost_bytes += bytes;
    },
    get lost_bytes() {
      return lost_bytes;
    },
  };
}

/** One stream of the console. */
function createStream(found: (finding: Finding, log_ns: bigint) => void) {
  const assembler = new Assembler(found);
  const tail = new Tail();
  let now_ns = 0n;
  const lines = new LineSplitter({
    needsAll: () => assembler.isOpen,
    line(bytes) {
      const text = plainText(bytes);
      if (text !== null) assembler.line(text, now_ns);
    },
  });
  return {
    write(bytes: Uint8Array, time_ns: bigint): void {
      now_ns = time_ns;
      tail.write(bytes);
      lines.write(bytes);
    },
    close: (before_ns: bigint) => assembler.close(before_ns),
    end(): void {
      lines.end();
      assembler.close();
    },
    get lastLines() {
      return tail.text;
    },
  };
}

/** The text without secrets, and not too long. */
function shown(text: string): string {
  const safe = redactText(text);
  if (safe.length <= MAX_TEXT_LENGTH) return safe;
  // Never half of a surrogate pair.
  const kept = safe.slice(0, MAX_TEXT_LENGTH).replace(/[\ud800-\udbff]$/, "");
  return `${kept}… (${safe.length - kept.length} more characters)`;
}
