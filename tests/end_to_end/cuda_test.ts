/** CUDA capture with a fake driver and a fake CUPTI: the payload equals the booked work. */

import assert from "node:assert/strict";
import { compiler, type Toolkit, TOOLKITS } from "../doubles/cuda/build.ts";
import { exact, frames, isExact, runScenario, uuid } from "../doubles/cuda/harness.ts";
import { missingCompiler, testUnless } from "../skipping.ts";
import { readLocal, until } from "../stack.ts";

const test = testUnless(missingCompiler(compiler));

for (const toolkit of Object.keys(TOOLKITS) as Toolkit[]) {
  test(`CUPTI of ${toolkit}: kernels, copies, sets and waits are counted to the nanosecond`, async () => {
    await exact("steady", { toolkit });
  });
}

test("busy time of a device counts once, also with concurrent work", async () => {
  await exact("overlap");
});

test("a read of a running process includes the work done before it", async () => {
  await exact("live", {
    async during({ run, kept, openGate }) {
      const done = await kept();
      await until(async () => isExact(await readLocal(run), done));
      await openGate();
    },
  });
});

test("an answer includes work done after the request was sent", async () => {
  await runScenario("paced", {
    async during({ run, kept, openGate }) {
      const [own] = await kept();
      const start_ns = parseInt(own!.cells.get("start_nanoseconds  ")!);
      // On a busy machine the answer may be late: then the next one includes it.
      await until(async () => {
        const asked_ms = Date.now();
        const found = frames(await readLocal(run), own!.pid, "cuda_kernels_nanoseconds");
        const [spent_ns = NaN] = [...found.values()].map(parseFloat);
        const done_ms = (start_ns + spent_ns) / 1e6;
        assert(!(done_ms > Date.now() + 5), "nothing is done in the future");
        return done_ms >= asked_ms;
      });
      await openGate();
    },
  });
});

test("a process without launches is captured, with empty profiles", async () => {
  const { payload, books } = await exact("idle");
  assert.equal(frames(payload, books[0]!.pid, "cuda_kernels_nanoseconds").size, 0);
});

test("cuInit from many threads at once, and again", async () => {
  await exact("init_often");
});

test("a running kernel is measured when it ends, also after many reads", async () => {
  await exact("running", {
    async during({ run, books }) {
      do await readLocal(run); while ((await books()).length === 0);
    },
  });
});

test("a kernel that runs at exit is counted as invalid", async () => {
  await exact("exit_while_running");
});

test("work after idle seconds does not interrupt the profiler", async () => {
  const { payload } = await exact("bursts");
  assert.deepEqual(payload.errors, []);
});

test("answers do not wait for a stopped process, which is read after it continues", async () => {
  await exact("live", {
    async during({ run, kept, openGate }) {
      const [own] = await kept();
      const pid = Number(own!.pid);
      Deno.kill(pid, "SIGSTOP");
      for (let i = 0; i < 5; i++) await readLocal(run);
      Deno.kill(pid, "SIGCONT");
      await until(async () => isExact(await readLocal(run), [own!]));
      await openGate();
    },
  });
});

test("a MIG instance has its own uuid", async () => {
  const { payload } = await runScenario("plain", { env: { FAKE_MIG: "1" } });
  const found = payload.metrics.flatMap(({ name, tags }) =>
    name === "cuda_kernels_nanoseconds" ? [tags["device.uuid"]] : []
  );
  assert.deepEqual(found.sort(), [0, 1].map((device) => uuid(device, "MIG-0f")));
});
