/** Identity of a process: its pid, the pid on the host if it runs in a container, and its rank. */

import assert from "node:assert/strict";
import { processIdentity } from "./process_identity.ts";
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

/** Tags of the process 7 or another, as these files describe it. */
function tagsOf(files: ProcFiles, pid = 7) {
  return processIdentity({ pid, start_ticks: 500n }, files).tags;
}

Deno.test("a process in our own pid namespace has one pid", () => {
  assert.deepEqual(tagsOf(proc({ "7/stat": stat(500) })), { "process.pid": "7" });
});

Deno.test("a process in a container also has the pid that we see", () => {
  const files = proc({
    "7/stat": stat(1),
    "900/stat": stat(500),
    "900/status": "Name:\tx\nNSpid:\t900\t8\n",
    "901/stat": stat(500),
    "901/status": "Name:\tx\nNSpid:\t901\t7\nNStgid:\t901\t7\n",
  });
  assert.deepEqual(tagsOf(files), { "process.pid": "7", "process.host_pid": "901" });
  assert.deepEqual(tagsOf(files, 9), { "process.pid": "9" });
});

Deno.test("a rank tells series apart, and describes the resource; the resource is its pid's", () => {
  const environ = "HOME=/root\0RANK=3\0LOCAL_RANK=1\0RANK=4\0API_KEY=secret\0=\0MASTER_ADDR=a=b\0";
  const files = proc({ "7/stat": stat(500), "7/environ": environ });
  const { tags, resource } = processIdentity({ pid: 7, start_ticks: 500n }, files);
  assert.deepEqual(tags, {
    "process.pid": "7",
    "process.rank": "3",
    "process.local_rank": "1",
  });
  assert.deepEqual(resource.tags, { "process.pid": "7" });
  assert.deepEqual(resource.attributes, {
    "process.rank": "3",
    "process.local_rank": "1",
    "distributed.master_addr": "a=b",
  });
});

Deno.test("the environment is that of the process that we see, not of another with its pid", () => {
  const files = proc({
    "7/stat": stat(1),
    "7/environ": "RANK=1\0",
    "901/stat": stat(500),
    "901/status": "NSpid:\t901\t7\n",
    "901/environ": "RANK=2\0",
  });
  assert.equal(tagsOf(files)["process.rank"], "2");
  assert.equal("process.rank" in tagsOf(files, 9), false);
});
