/** The container that this process runs in. */

import type { ProcFiles } from "../../base/proc_files.ts";

/**
 * The id of the container that this process runs in, by its cgroup or, where the container has a cgroup
 * namespace of its own, by the files that the runtime mounts into it; `undefined` outside of a
 * container, or where neither has an id.
 */
export function containerId(files: ProcFiles): string | undefined {
  const cgroup = files.text("self/cgroup") ?? "";
  const mountinfo = files.text("self/mountinfo") ?? "";
  return lastMatch(/(?:^|[/:-])([0-9a-f]{64})(?:\.scope)?$/gm, cgroup) ??
    lastMatch(/\/(?:overlay-)?containers\/([0-9a-f]{64})\//g, mountinfo);
}

function lastMatch(pattern: RegExp, text: string): string | undefined {
  return [...text.matchAll(pattern)].at(-1)?.[1];
}
