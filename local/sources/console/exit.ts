/** The exit of the workload, as an error unless it succeeded. */

import type { ErrorEntry, Tags } from "@service/core";

/** How a process ended. */
export interface ExitStatus {
  code: number;
  /** The signal that ended it, such as `SIGSEGV`, or `null`. */
  signal: string | null;
  /** Processes of this machine that the out-of-memory killer ended during the run, where known. */
  oom_kills?: number;
}

const SIGNALS: Record<string, string> = {
  SIGKILL: "killed from outside, as the kernel's out-of-memory killer does",
  SIGSEGV: "segmentation fault: it touched memory that is not its own",
  SIGBUS: "bus error: a mapped file or shared memory was cut short or is full",
  SIGABRT: "aborted itself, as a failed assertion or an uncaught C++ exception does",
  SIGILL: "illegal instruction: built for another processor",
  SIGFPE: "arithmetic fault, such as an integer division by zero",
  SIGTERM: "asked to end",
  SIGINT: "interrupted",
  SIGHUP: "its terminal was closed",
  SIGPIPE: "wrote to a pipe that nobody reads",
};

/** Signals by the number that a shell adds to 128. */
const NUMBERS: Record<number, string> = {
  ...{ 1: "SIGHUP", 2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE" },
  ...{ 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM" },
};

/** The entry of an exit by a signal or with a status other than 0; `null` for success. */
export function exitEntry(
  { code, signal, oom_kills = 0 }: ExitStatus,
  lastLines: string,
): Pick<ErrorEntry, "level" | "message" | "exception" | "tags"> | null {
  if (code === 0 && signal === null) return null;
  const name = signal ?? NUMBERS[code - 128];
  const why = name === "SIGKILL" && oom_kills > 0 ? outOfMemory(oom_kills) : name && SIGNALS[name];
  const meaning = why ? ` (${why})` : "";
  const ending = signal !== null
    ? `was ended by ${signal}${meaning}`
    : `exited with status ${code}${name ? `: ${name}${meaning}` : ""}`;
  const tags: Tags = signal !== null ? { "exit.signal": signal } : { "exit.code": String(code) };
  return { level: "error", message: `The command ${ending}`, exception: lastLines, tags };
}

function outOfMemory(kills: number): string {
  const processes = kills === 1 ? "a process" : `${kills} processes`;
  return `out of memory, it seems: the kernel's out-of-memory killer ended ${processes} meanwhile`;
}
