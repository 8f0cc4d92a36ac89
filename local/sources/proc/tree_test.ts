/** Which processes are the run's: by their parents and their marker, whatever becomes of their pids. */

import assert from "node:assert/strict";
import { MadeUp, MARKER, pidsOf, resource, sampled, valueOf, watch } from "./testdata/made_up.ts";

Deno.test("a pid that means another process is measured from that one's start", async () => {
  using proc = new MadeUp();
  const source = watch(7, { proc: proc.folder });
  proc.process(7, {});
  proc.process(8, { parent: 7, start_ticks: 100, user_ticks: 200 });
  await sampled(source);
  proc.process(8, { parent: 7, start_ticks: 900, user_ticks: 300, comm: "other" });
  assert.deepEqual(pidsOf(await sampled(source)), new Set(["7"]));
  const window = await sampled(source);
  assert.equal(valueOf(window, "process_user_cpu_seconds", "8"), 3);
  assert.equal(resource(window, "8").attributes["process.command_line"], "[other]");
});

Deno.test("a process that ends while it is read leaves nothing", async () => {
  using proc = new MadeUp();
  const source = watch(7, { proc: proc.folder });
  proc.process(7, {});
  proc.process(8, { parent: 7 });
  proc.process(9, { parent: 7 });
  assert.deepEqual(pidsOf(await sampled(source)), new Set(["7", "8", "9"]));
  Deno.removeSync(`${proc.folder}/8/stat`);
  proc.process(9, { parent: 7, state: "Z" });
  const window = await sampled(source);
  assert.deepEqual(pidsOf(window), new Set(["7"]));
  assert.equal(window.resources.size, 1);
});

Deno.test("a generation that was born in the wrong order of pids is still a generation", async () => {
  using proc = new MadeUp();
  proc.process(50, {});
  proc.process(40, { parent: 50 });
  proc.process(30, { parent: 40 });
  proc.process(20, { parent: 1 });
  const window = await sampled(watch(50, { proc: proc.folder }));
  assert.deepEqual(pidsOf(window), new Set(["30", "40", "50"]));
});

Deno.test("a marker that another one starts with is not the marker", async () => {
  using proc = new MadeUp();
  proc.process(8, { environ: `A=1\0${MARKER}\0` });
  proc.process(9, { environ: `A=1\0${MARKER}0\0X${MARKER}\0` });
  const window = await sampled(watch(7, { proc: proc.folder }));
  assert.deepEqual(pidsOf(window), new Set(["8"]));
});
