/** All that the kernel tells about one process at one time. */

import {
  hasEnded,
  parseIo,
  parseStat,
  parseStatus,
  type ProcessIo,
  type ProcessStat,
  type ProcessStatus,
} from "../../base/proc_text.ts";
import type { ProcFiles } from "../../base/proc_files.ts";

/** What one process showed; `null` is what may not be read, or was not read this time. */
export interface ProcessReading {
  stat: ProcessStat;
  status: ProcessStatus | null;
  io: ProcessIo | null;
  descriptors: number | null;
  /** Each thread's status, by its id. */
  threads: Map<string, ProcessStatus> | null;
}

/** What of a process that is dear to read is read this time. */
export interface ReadProcessOptions {
  /** Reads more threads than this only when `all`. */
  maxThreads: number;
  /** Whether the size of the folder of descriptors is their number (Linux 6.2), which costs nothing. */
  descriptorsCounted: boolean;
  /** Reads more than `stat`. */
  whole: boolean;
  /** Reads what is dear too. */
  all: boolean;
}

/** Reads the process `pid`; `null` when it ended before the last of it was read. */
export function readProcess(
  files: ProcFiles,
  pid: number,
  options: ReadProcessOptions,
): ProcessReading | null {
  const rest = options.whole ? readRest(files, pid, options) : NOTHING;
  // Read last: a process that is there now was there all the time, so that nothing above is half.
  const stat = parsed(files.text(`${pid}/stat`), parseStat);
  return stat && !hasEnded(stat) ? { stat, ...rest } : null;
}

const NOTHING = { status: null, io: null, descriptors: null, threads: null };

function readRest(
  files: ProcFiles,
  pid: number,
  { maxThreads, descriptorsCounted, all }: ReadProcessOptions,
): Omit<ProcessReading, "stat"> {
  const status = parsed(files.text(`${pid}/status`), parseStatus);
  const io = parsed(files.text(`${pid}/io`), parseIo);
  const few = (status?.threads ?? 0) <= maxThreads;
  const threads = status && (few || all) ? readThreads(files, pid, status) : null;
  const counted = descriptorsCounted ? files.size(`${pid}/fd`) : null;
  const listed = !descriptorsCounted && all ? files.names(`${pid}/fd`)?.length : undefined;
  return { status, io, threads, descriptors: counted ?? listed ?? null };
}

function readThreads(
  files: ProcFiles,
  pid: number,
  status: ProcessStatus,
): Map<string, ProcessStatus> | null {
  if (status.threads === 1) return new Map([[String(pid), status]]);
  const ids = files.names(`${pid}/task`);
  if (!ids) return null;
  const threads = new Map<string, ProcessStatus>();
  for (const id of ids) {
    const thread = parsed(files.text(`${pid}/task/${id}/status`), parseStatus);
    if (thread) threads.set(id, thread);
  }
  return threads;
}

function parsed<T>(text: string | null, parse: (text: string) => T): T | null {
  return text === null ? null : parse(text);
}
