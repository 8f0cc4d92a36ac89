/** Places where a watcher may finish after the end of its command, and where it may not. */

import assert from "node:assert/strict";
import { mayLeave } from "./leaving.ts";

Deno.test("a command in a shell leaves a watcher that is still starting", () => {
  assert(mayLeave({ env: { PATH: "/bin", CI: "" }, ppid: 4_711 }));
});

for (const ppid of [0, 1]) {
  Deno.test(`nothing is left where the parent is process ${ppid}: it ends the others`, () => {
    assert(!mayLeave({ env: {}, ppid }));
  });
}

for (const name of ["CI", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "SERVICE_SNAPSHOT_FILE"]) {
  Deno.test(`nothing is left where ${name} is set`, () => {
    assert(!mayLeave({ env: { [name]: "1" }, ppid: 4_711 }));
  });
}
