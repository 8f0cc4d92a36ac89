/** Other tools that use CUPTI: before a run, during it, and named by `CUDA_INJECTION64_PATH`. */

import assert from "node:assert/strict";
import type { Signals } from "@service/core";
import { compiler, otherTool } from "../doubles/cuda/build.ts";
import { booked, exact, frames, refused, runScenario } from "../doubles/cuda/harness.ts";
import { missingCompiler, testUnless } from "../skipping.ts";
import { readLocal, until } from "../stack.ts";

const test = testUnless(missingCompiler(compiler));

for (const scenario of ["usurped", "finalized"]) {
  test(`${scenario}: another tool uses CUPTI for a while, and capture resumes after it`, async () => {
    const { status, payload, books: [own] } = await runScenario(scenario);
    assert.equal(status.code, 0);
    const found = frames(payload, own!.pid, "cuda_kernels_nanoseconds");
    for (const [frame, value] of booked(own!, "cuda_kernels_nanoseconds")) {
      assert.equal(found.get(frame), value, frame);
    }
  });
}

test("another tool that takes the buffers for good is told within three seconds", async () => {
  for (const toolkit of ["11.8", "13.0"] as const) {
    await runScenario("usurped_for_good", {
      toolkit,
      async during({ run, kept, openGate }) {
        const [own] = await kept();
        const start_ns = parseInt(own!.cells.get("start_nanoseconds  ")!);
        await until(async () => isInterrupted(await readLocal(run)));
        const told_ms = Date.now() - start_ns / 1e6;
        assert(told_ms < 3000, `${told_ms} ms`);
        await openGate();
      },
    });
  }
});

function isInterrupted({ resources }: Signals): boolean {
  const states = resources.map(({ attributes }) => attributes["profiler.capture"] ?? "");
  return states.some((state) => state.startsWith("interrupted"));
}

test("with another tool subscribed the workload runs, and the payload names it", async () => {
  await refused({ env: { FAKE_SUBSCRIBE: "39" } }, /Nsight Systems/);
  await refused({ env: { FAKE_SUBSCRIBE: "39" }, toolkit: "12.4" }, /tool|subscri/i);
});

test("a tool that CUDA_INJECTION64_PATH names is called, and the payload names it", async () => {
  await using called = await temporaryFile();
  await refused(
    { env: { CUDA_INJECTION64_PATH: await otherTool(), FAKE_TOOL_CALLED: called.path } },
    /libtool\.so/,
  );
  assert.equal(await Deno.readTextFile(called.path), "called\n");
});

test("a file in CUDA_INJECTION64_PATH that cannot be loaded is not a tool", async () => {
  await using garbage = await temporaryFile();
  await Deno.writeTextFile(garbage.path, "\x7fELF\x01garbage");
  const attributesOf = ({ resources }: Signals) =>
    resources.map(({ attributes }) => attributes["profiler.capture"] ?? "").join();
  for (const path of [garbage.path, "/none/libtool.so"]) {
    await exact("live", {
      env: { CUDA_INJECTION64_PATH: path },
      async during({ run, openGate }) {
        await until(async () =>
          attributesOf(await readLocal(run)).includes(`${path}, which is no tool`)
        );
        await openGate();
      },
    });
  }
});

test('"none" in CUDA_INJECTION64_PATH is not a tool', async () => {
  await exact("plain", { env: { CUDA_INJECTION64_PATH: "none" } });
});

async function temporaryFile(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempFile({ prefix: "service-test-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path) };
}
