/** Tags of a process: its pid, and the pid on the host if it runs in a container. */

import assert from "node:assert/strict";
import { processTags } from "./process_tags.ts";
import type { ProcFiles } from "../../base/proc_files.ts";

function proc(files: Record<string, string>): ProcFiles {
  const names = [...new Set(Object.keys(files).map((path) => path.split("/")[0]!))];
  return {
    text: (path) => files[path] ?? null,
    names: () => names,
    link: () => null,
    size: () => null,
  };
}

const stat = (ticks: number) => `7 (a ) b) S ${"0 ".repeat(18)}${ticks} 0`;

Deno.test("a process in our own pid namespace has one pid", () => {
  const files = proc({ "7/stat": stat(500) });
  assert.deepEqual(processTags({ pid: 7, start_ticks: 500n }, files), { "process.pid": "7" });
});

Deno.test("a process in a container also has the pid that we see", () => {
  const files = proc({
    "7/stat": stat(1),
    "900/stat": stat(500),
    "900/status": "Name:\tx\nNSpid:\t900\t8\n",
    "901/stat": stat(500),
    "901/status": "Name:\tx\nNSpid:\t901\t7\nNStgid:\t901\t7\n",
  });
  assert.deepEqual(processTags({ pid: 7, start_ticks: 500n }, files), {
    "process.pid": "7",
    "process.host_pid": "901",
  });
  assert.deepEqual(processTags({ pid: 9, start_ticks: 500n }, files), { "process.pid": "9" });
});
