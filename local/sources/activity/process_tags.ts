/** Tags of a segment's process: its pid in its own namespace, and in ours. */

import { parseStat } from "../../base/proc_text.ts";
import { createProcFiles, type ProcFiles } from "../../base/proc_files.ts";
import type { SegmentLayout } from "./layout.ts";

/**
 * Tags of the process that wrote a segment: its own pid, and if it runs in a container also the pid
 * that it has here, found by its start time and its pids in all namespaces.
 */
export function processTags(
  { pid, start_ticks }: Pick<SegmentLayout, "pid" | "start_ticks">,
  files: ProcFiles = createProcFiles(),
): Record<string, string> {
  const tags = { "process.pid": String(pid) };
  const started = (candidate: string) => {
    const stat = parseStat(files.text(`${candidate}/stat`) ?? "");
    return stat !== null && BigInt(stat.start_ticks) === start_ticks;
  };
  if (started(String(pid))) return tags;
  for (const name of files.names(".") ?? []) {
    if (!/^\d+$/.test(name) || !started(name)) continue;
    const pids = /^NSpid:\s+(.*)$/m.exec(files.text(`${name}/status`) ?? "")?.[1]?.split(/\s+/);
    if (pids?.at(-1) === String(pid)) return { ...tags, "process.host_pid": name };
  }
  return tags;
}
