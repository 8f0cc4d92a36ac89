/** Attributes of a process: its command line, executable and runtime. */

import type { Tags } from "@service/core";
import type { ProcFiles } from "../../base/proc_files.ts";
import { commandLine } from "../../base/command_line.ts";

/** Attributes of the process `pid`; `comm` replaces an empty command line. */
export function processAttributes(
  files: ProcFiles,
  { pid, parent, comm }: { pid: number; parent: number; comm: string },
): Tags {
  const executable = files.link(`${pid}/exe`);
  const text = files.text(`${pid}/cmdline`)?.replace(/\0+$/, "");
  return {
    "process.command_line": text ? commandLine(text.split("\0")) : `[${comm}]`,
    "process.parent_pid": String(parent),
    ...(executable !== null && { "process.executable": executable, ...runtime(executable) }),
  };
}

/** The language runtime of an executable, by its name; the version where the name has one. */
export function runtime(executable: string): Tags {
  const name = executable.replace(/ \(deleted\)$/, "").split("/").at(-1) ?? "";
  const match = /^(python|pypy|node|deno|bun|ruby|perl|php|java|julia|lua)(\d+(?:\.\d+)+)?t?$/
    .exec(name) ?? /^(python|pypy|php)\d$/.exec(name);
  if (!match) return {};
  const [, runtime = "", version] = match;
  return { "runtime.name": runtime, ...(version && { "runtime.version": version }) };
}
