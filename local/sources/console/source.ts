/** The source of console errors: it follows the console and records its warnings and errors. */

import type { ErrorEntry } from "@service/core";
import { type Console, type ConsoleSink, createConsole } from "./console.ts";
import type { ExitStatus } from "./exit.ts";
import type { FindNeedle } from "./scan.ts";
import { recordCaptureState } from "../capture_state.ts";
import { createPace } from "../pacing.ts";
import type { Recorder } from "../recorder.ts";
import type { Source } from "../source.ts";

/** A stream of the workload. */
export interface ReadStream {
  stream: "stdout" | "stderr";
  /** Why it is not read; absent where it is. */
  reason?: string;
}

/** Where the console's bytes come from. */
export interface ConsoleReader {
  /** The workload's streams, read or not. */
  readonly streams: readonly ReadStream[];
  /** Passes on bytes written since the last call, at most a megabyte or two. */
  read(console: ConsoleSink): void;
  /** Bytes of regular files that are not read yet. */
  readonly unread_bytes: number;
  /** How the workload ended, or `null` while it runs. */
  status(): ExitStatus | null;
}

/** Pauses between two readings, by how much the last one found: nothing, little, much. */
const LONG_PAUSE_MS = 400;
const PAUSE_MS = 100;
const SHORT_PAUSE_MS = 5;

/** Bytes of one reading that are much: the supervisor's ring holds a mebibyte. */
const MUCH_BYTES = 65_536;

/** How long the end of the run waits for files that are not read yet. */
const PATIENCE_MS = 2_000;

/** The clock, the search, and the count of processes that ran out of memory. */
export interface ConsoleSourceOptions {
  now_ns: () => bigint;
  /** Processes of this machine that ran out of memory so far, or `null` where that is not known. */
  oomKills: () => number | null;
  /** The native search for needles. */
  find?: FindNeedle;
}

/** A source that follows the console until it is settled. */
export function createConsoleSource(reader: ConsoleReader, options: ConsoleSourceOptions): Source {
  return new ConsoleSource(reader, options);
}

class ConsoleSource implements Source {
  readonly #reader: ConsoleReader;
  readonly #options: ConsoleSourceOptions;
  readonly #console: Console;
  readonly #oomKillsAtStart: number | null;
  #entries: ErrorEntry[] = [];
  #recorded_lost_bytes = 0;
  #hasEnded = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #fault: unknown;

  constructor(reader: ConsoleReader, options: ConsoleSourceOptions) {
    this.#reader = reader;
    this.#options = options;
    this.#oomKillsAtStart = options.oomKills();
    const { now_ns, find } = options;
    this.#console = createConsole({ report: (entry) => this.#entries.push(entry), now_ns, find });
    this.#follow(0);
  }

  async sample(recorder: Recorder): Promise<void> {
    for (const { stream, reason } of this.#reader.streams) {
      const captured = reason === undefined && this.#fault === undefined;
      recordCaptureState(recorder, {
        capture: "console_errors",
        captured,
        reason,
        tags: { stream },
      });
    }
    if (this.#fault !== undefined) throw this.#fault;
    // The status first: all that the workload wrote before its end is then read before the end is reported.
    const status = this.#reader.status();
    this.#read();
    if (status && !this.#hasEnded) {
      await this.#catchUp();
      this.#console.end({ ...status, ...this.#oomKills() }, this.#options.now_ns());
    } else this.#console.idle(recorder.now_ns);
    this.#hasEnded ||= status !== null;
    for (const entry of this.#entries.splice(0)) recorder.error(entry);
    const { lost_bytes } = this.#console;
    recorder.counter("profiler_lost_console_bytes", {}, lost_bytes - this.#recorded_lost_bytes);
    this.#recorded_lost_bytes = lost_bytes;
  }

  settle(): Promise<void> {
    clearTimeout(this.#timer);
    return Promise.resolve();
  }

  #follow(pause_ms: number): void {
    this.#timer = setTimeout(() => {
      try {
        this.#follow(pauseAfter(this.#read()));
      } catch (error) {
        this.#fault = error;
      }
    }, pause_ms);
  }

  /** Reads the rest of files; what is not read in time counts as lost. */
  async #catchUp(): Promise<void> {
    const pace = createPace();
    const start_ms = performance.now();
    while (this.#reader.unread_bytes > 0 && performance.now() - start_ms < PATIENCE_MS) {
      this.#read();
      await pace();
    }
    this.#console.lost(this.#reader.unread_bytes);
  }

  /** Reads the new bytes, and returns their number. */
  #read(): number {
    let size_bytes = 0;
    this.#reader.read({
      write: (chunk) => {
        size_bytes += chunk.bytes.length;
        this.#console.write(chunk);
      },
      lost: (bytes) => this.#console.lost(bytes),
      warn: (message) => this.#console.warn(message),
    });
    return size_bytes;
  }

  #oomKills(): Pick<ExitStatus, "oom_kills"> {
    const before = this.#oomKillsAtStart;
    const now = before === null ? null : this.#options.oomKills();
    return before === null || now === null ? {} : { oom_kills: now - before };
  }
}

/** Each reading costs processor time, whether it finds something or not. */
function pauseAfter(size_bytes: number): number {
  if (size_bytes === 0) return LONG_PAUSE_MS;
  return size_bytes > MUCH_BYTES ? SHORT_PAUSE_MS : PAUSE_MS;
}
