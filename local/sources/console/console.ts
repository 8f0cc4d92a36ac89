/** The console: finds warnings and errors in the bytes that the workload writes. */

import type { ErrorEntry, Tags } from "@service/core";
import { SECOND_NS } from "@service/core/time";
import { Assembler } from "./assembler.ts";
import type { Finding } from "./block.ts";
import { exitEntry, type ExitStatus } from "./exit.ts";
import { LineSplitter } from "./lines.ts";
import { Repeats } from "./repeats.ts";
import type { FindNeedle } from "./scan.ts";
import { Tail } from "./tail.ts";
import { plainText } from "./text.ts";
import { redactText } from "@service/core/redact";

/** The stream of a write: 0 the terminal, 1 standard output, 2 standard error. */
export type StreamNumber = 0 | 1 | 2;

/** Bytes of one write. */
export interface ConsoleChunk {
  stream: StreamNumber;
  time_ns: bigint;
  bytes: Uint8Array;
}

/** Where entries go, and the clock. */
export interface ConsoleOptions {
  report: (entry: ErrorEntry) => void;
  now_ns: () => bigint;
  /** The native search for needles. */
  find?: FindNeedle;
}

/** A console that is read as it is written. */
export interface Console {
  /** Takes the next bytes; they may end anywhere. */
  write(chunk: ConsoleChunk): void;
  /** Called once a tick: reports the repeats, and what got no further line for a second. */
  idle(now_ns: bigint): void;
  /** Called at the end: reports what is open, and how the workload ended unless it succeeded. */
  end(status: ExitStatus, now_ns: bigint): void;
  /** Called for bytes that nobody looked at: the first time is reported, all are counted. */
  lost(bytes: number): void;
  /** Reports a warning of the profiler's own. */
  warn(message: string): void;
  /** Bytes lost so far. */
  readonly lost_bytes: number;
}

/** What a reader of the console may call. */
export type ConsoleSink = Pick<Console, "write" | "lost" | "warn">;

/** Most characters of a message or an exception that are reported. */
export const MAX_TEXT_LENGTH = 16_384;

/** Longest pause within a traceback. */
const MAX_PAUSE_NS = SECOND_NS;

const NAMES = ["terminal", "stdout", "stderr"] as const;

/** The streams whose last lines go with a failure, the first one that has any. */
const LAST_LINES_OF: readonly StreamNumber[] = [2, 0, 1];

/** A console that reports the warnings and errors written to it. */
export function createConsole({ report, now_ns, find }: ConsoleOptions): Console {
  const repeats = new Repeats(report);
  const streams = NAMES.map((stream) =>
    createStream(
      ({ level, message, exception, pid, ranks }, log_ns) =>
        add({ level, message, exception, log_ns }, {
          stream,
          ...(pid && { "process.pid": pid }),
          ...ranks,
        }),
      find,
    )
  );
  let lost_bytes = 0;

  function add(entry: Omit<ErrorEntry, "tags">, tags: Tags): void {
    const { level, log_ns } = entry;
    const message = published(entry.message);
    const exception = published(entry.exception);
    repeats.add({ level, message, exception, log_ns, tags });
  }

  function warn(message: string): void {
    const entry = { level: "warning", message: `service-run: ${message}`, exception: "" } as const;
    add({ ...entry, log_ns: now_ns() }, {});
  }

  return {
    write({ stream, time_ns, bytes }) {
      streams[stream]!.write(bytes, time_ns);
    },
    idle(now_ns) {
      for (const stream of streams) stream.close(now_ns - MAX_PAUSE_NS);
      repeats.flush();
    },
    end(status, now_ns) {
      for (const stream of streams) stream.end();
      const lastLines = LAST_LINES_OF.map((number) => streams[number]!.lastLines);
      const exit = exitEntry(status, lastLines.find((text) => text !== "") ?? "");
      if (exit) add({ ...exit, log_ns: now_ns }, exit.tags ?? {});
      repeats.flush();
    },
    lost(bytes) {
      if (bytes > 0 && lost_bytes === 0) {
        warn("some console output was not looked at: it came faster than it was read");
      }
      lost_bytes += bytes;
    },
    warn,
    get lost_bytes() {
      return lost_bytes;
    },
  };
}

/** One stream of the console. */
function createStream(report: (finding: Finding, log_ns: bigint) => void, find?: FindNeedle) {
  const assembler = new Assembler(report);
  const tail = new Tail();
  let now_ns = 0n;
  const lines = new LineSplitter({
    needsAll: () => assembler.isOpen,
    line(bytes) {
      const text = plainText(bytes);
      if (text !== null) assembler.line(text, now_ns);
    },
  }, find);
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

/** The text as it is published: without secrets, and not too long. */
function published(text: string): string {
  const safe = redactText(text);
  if (safe.length <= MAX_TEXT_LENGTH) return safe;
  // Never half of a surrogate pair.
  const kept = safe.slice(0, MAX_TEXT_LENGTH).replace(/[\ud800-\udbff]$/, "");
  return `${kept}… (${safe.length - kept.length} more characters)`;
}
