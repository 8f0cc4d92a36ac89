/** Identity of a segment's process: its pid in its own namespace and in ours, and its rank. */

import type { Tags } from "@service/core";
import { rankTags, seriesTags } from "../../base/ranks.ts";
import { environment, parseStat } from "../../base/proc_text.ts";
import { createProcFiles, type ProcFiles } from "../../base/proc_files.ts";
import type { SegmentLayout } from "../segments/layout.ts";

/** Who a process is. */
export interface ProcessIdentity {
  /** Tags of its series: its pids, and its ranks if it is one of a distributed job. */
  tags: Tags;
  /** Its resource; the attributes are its place in the job. */
  resource: { tags: Tags; attributes: Tags };
}

/**
 * Identity of the process that wrote a segment. If it runs in a container, it also has the pid that we
 * see, found by its start time and its pids in all namespaces. The environment that it was started with
 * tells its rank, where we may read it.
 */
export function processIdentity(
  segment: Pick<SegmentLayout, "pid" | "start_ticks">,
  files: ProcFiles = createProcFiles(),
): ProcessIdentity {
  const pid = String(segment.pid);
  const seen = pidHere(segment, files);
  const tags: Tags = {
    "process.pid": pid,
    ...(seen !== null && seen !== pid && { "process.host_pid": seen }),
  };
  const environ = seen === null ? null : files.text(`${seen}/environ`);
  const attributes = rankTags(environment(environ ?? ""));
  return { tags: { ...tags, ...seriesTags(attributes) }, resource: { tags, attributes } };
}

/** The pid that a process has in our namespace; `null` if we do not see it. */
function pidHere(
  { pid, start_ticks }: Pick<SegmentLayout, "pid" | "start_ticks">,
  files: ProcFiles,
): string | null {
  const started = (candidate: string) => {
    const stat = parseStat(files.text(`${candidate}/stat`) ?? "");
    return stat !== null && BigInt(stat.start_ticks) === start_ticks;
  };
  if (started(String(pid))) return String(pid);
  for (const name of files.names(".") ?? []) {
    if (!/^\d+$/.test(name) || !started(name)) continue;
    const pids = /^NSpid:\s+(.*)$/m.exec(files.text(`${name}/status`) ?? "")?.[1]?.split(/\s+/);
    if (pids?.at(-1) === String(pid)) return name;
  }
  return null;
}
