/** Readings of one process at one time, from the kernel's files. */

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

/** One process; `null` where a file may not be read, or was not read this time. */
export interface ProcessReading {
  stat: ProcessStat;
  status: ProcessStatus | null;
  io: ProcessIo | null;
  descriptors: number | null;
  /** Statuses by thread id. */
  threads: Map<string, ProcessStatus> | null;
}

/** Extent of a reading. */
export interface ReadProcessOptions {
  /** Reads more than `stat`: memory, I/O, and cheap readings of threads and descriptors. */
  usage: boolean;
  /** Reads long lists of threads and descriptors too. */
  costly: boolean;
  /** More threads than this are a long list. */
  maxThreads: number;
  /** Whether the size of the folder of descriptors is their number (Linux 6.2), which is cheap to read. */
  descriptorsCounted: boolean;
}

/**
 * Reads the process `pid`; `null` if it is gone. One that has ended and that nobody has waited for yet
 * still has its processor time.
 */
export function readProcess(
  files: ProcFiles,
  pid: number,
  options: ReadProcessOptions,
): ProcessReading | null {
  const usage = options.usage ? readUsage(files, pid, options) : NO_USAGE;
  // Read last: a process that still exists existed during all readings above, so none is of half of it.
  const stat = parsed(files.text(`${pid}/stat`), parseStat);
  return stat && { stat, ...(hasEnded(stat) ? NO_USAGE : usage) };
}

const NO_USAGE = { status: null, io: null, descriptors: null, threads: null };

function readUsage(
  files: ProcFiles,
  pid: number,
  { maxThreads, descriptorsCounted, costly }: ReadProcessOptions,
): Omit<ProcessReading, "stat"> {
  const status = parsed(files.text(`${pid}/status`), parseStatus);
  const io = parsed(files.text(`${pid}/io`), parseIo);
  const few = (status?.threads ?? 0) <= maxThreads;
  const threads = status && (few || costly) ? readThreads(files, pid, status) : null;
  const counted = descriptorsCounted ? files.size(`${pid}/fd`) : null;
  const listed = !descriptorsCounted && costly ? files.names(`${pid}/fd`)?.length : undefined;
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
