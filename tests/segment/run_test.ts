/** Segments of a run, read over HTTP. */

import assert from "node:assert/strict";
import { temporaryDirectory } from "../temporary_directory.ts";
import { readLocal, until } from "../stack.ts";
import { stampOf, startStamping } from "./stamping.ts";
import { buildWriter } from "./writer.ts";
import { compiler } from "../doubles/cuda/build.ts";
import { missingCompiler, testUnless } from "../skipping.ts";

const test = testUnless(missingCompiler(compiler));

test("an answer has values published after the request, and the run leaves no files", async () => {
  await using directory = await temporaryDirectory();
  const writer = await buildWriter(directory.path);
  await using run = await startStamping(writer!, directory.path);
  const id = (await readLocal(run)).context["instance.id"]!;
  const shared = `/dev/shm/service-${Deno.uid()}/${id}`;
  assert(Deno.statSync(shared).isDirectory);
  await until(async () => {
    const asked_ms = Date.now();
    return stampOf(await readLocal(run)) >= asked_ms;
  });
  const { metrics } = await readLocal(run);
  const state = metrics.find(({ tags }) => tags.capture === "gpu_kernels" && tags["process.pid"]);
  assert.deepEqual(state?.stats, { value: 1 });
  run.process.kill("SIGTERM");
  await run.ended;
  assert.throws(() => Deno.statSync(shared), Deno.errors.NotFound);
  assert.throws(() => Deno.statSync(`${directory.path}/service/segments`), Deno.errors.NotFound);
});
