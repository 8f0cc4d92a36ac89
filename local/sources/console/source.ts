/** The console as a source: its findings go to the recorder of the tick that reads them. */

import type { ErrorEntry } from "@service/core";
import { type Console, createConsole } from "./console.ts";
import type { ExitStatus } from "./exit.ts";
import type { Recorder } from "../recorder.ts";
import type { Source } from "../source.ts";

/** Where the console's bytes come from. */
export interface ConsoleReader {
  /** Hands on what was written since the last call. */
  read(console: Pick<Console, "write" | "lost">): void;
  /** How the workload ended, or `null` while it runs. */
  status(): ExitStatus | null;
}

/** How long the console is left alone where nothing is written, where little is, and where much is. */
const LONG_PAUSE_MS = 400;
const PAUSE_MS = 100;
const SHORT_PAUSE_MS = 5;

/** Bytes at one reading that are much: the supervisor holds a mebibyte. */
const MUCH_BYTES = 65_536;

/** What the source asks for besides the bytes. */
export interface ConsoleSourceOptions {
  now_ns: () => bigint;
  /** The machine's count of processes that ran out of memory, or `null`. */
  oomKills: () => number | null;
}

/** A source that reads the console all the time, until it is settled, and records what is found. */
export function consoleSource(
  reader: ConsoleReader,
  { now_ns, oomKills }: ConsoleSourceOptions,
): Source {
  const kills = oomKills();
  let found: ErrorEntry[] = [];
  let told_bytes = 0;
  let ended = false;
  const console = createConsole({ report: (entry) => found.push(entry), now_ns });
  function killed(): Pick<ExitStatus, "oom_kills"> {
    const now = kills === null ? null : oomKills();
    return now === null ? {} : { oom_kills: now - kills! };
  }
  let timer: ReturnType<typeof setTimeout>;
  let fault: unknown;

  /** Reads what there is; how many bytes it was. */
  function read(): number {
    let bytes = 0;
    reader.read({
      write(chunk) {
        bytes += chunk.bytes.length;
        console.write(chunk);
      },
      lost: (bytes) => console.lost(bytes),
    });
    return bytes;
  }

  function follow(pause_ms: number): void {
    timer = setTimeout(() => {
      try {
        follow(pauseAfter(read()));
      } catch (error) {
        fault = error;
      }
    }, pause_ms);
  }
  follow(0);

  return {
    sample(recorder: Recorder) {
      if (fault !== undefined) throw fault;
      // What is written before the end is known may come after the last read.
      const status = reader.status();
      read();
      if (status && !ended) console.end({ ...status, ...killed() }, now_ns());
      else console.idle(recorder.now_ns);
      ended ||= status !== null;
      for (const entry of found) recorder.error(entry);
      found = [];
      recorder.counter("profiler_lost_console_bytes", {}, console.lost_bytes - told_bytes);
      told_bytes = console.lost_bytes;
    },
    settle() {
      clearTimeout(timer);
      return Promise.resolve();
    },
  };
}

/** Each look costs processor time, whether there is something to see or not. */
function pauseAfter(bytes: number): number {
  if (bytes === 0) return LONG_PAUSE_MS;
  return bytes > MUCH_BYTES ? SHORT_PAUSE_MS : PAUSE_MS;
}
