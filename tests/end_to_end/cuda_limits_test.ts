/** Names, numbers and loads beyond what CUDA capture can take: what is lost is counted, the rest is exact. */

import assert from "node:assert/strict";
import { compiler, type Toolkit } from "../doubles/cuda/build.ts";
import { booked, exact, frames, isExact, published, runScenario } from "../doubles/cuda/harness.ts";
import { missingCompiler, testUnless } from "../skipping.ts";
import { readLocal, until } from "../stack.ts";

const test = testUnless(missingCompiler(compiler));

test("beyond the limit of frames, time goes to (other) and the sum is exact", async () => {
  const { payload, books: [own], status } = await runScenario("many_symbols");
  assert.equal(status.code, 0);
  const found = frames(payload, own!.pid, "cuda_kernels_nanoseconds");
  assert(found.size <= 4096 && found.has("(other)"), `${found.size} frames`);
  const due = booked(own!, "cuda_kernels_nanoseconds");
  const sum = (cells: Map<string, string>) =>
    [...cells.values()].reduce((total, cell) => total + BigInt(cell.split(" ")[0]!), 0n);
  assert.equal(sum(found), sum(due));
  found.delete("(other)");
  for (const [frame, value] of found) assert.equal(value, due.get(frame));
});

test("symbols longer than the limit of a name stay distinct", async () => {
  const { payload, books: [own] } = await runScenario("long_symbols");
  const found = frames(payload, own!.pid, "cuda_kernels_nanoseconds");
  assert.deepEqual([...found.values()].sort(), ["1000 1", "1001 1", "1002 1"]);
  for (const name of found.keys()) {
    assert(name.length <= 4096);
    assert.match(name, /^a{4000,}…[0-9a-f]{16}$/);
  }
  const replaced = published(payload, own!.pid).get("profiler_replaced_names_total  ");
  assert.equal(replaced, "3 0");
});

/** Reads a scenario that stays alive until its values are in two answers; it must not be refused. */
async function exactTwice(scenario: string) {
  const { payload } = await exact(scenario, {
    async during({ run, kept, openGate }) {
      const done = await kept();
      for (let i = 0; i < 2; i++) await until(async () => isExact(await readLocal(run), done));
      await openGate();
    },
  });
  assert.deepEqual(payload.errors, []);
  const refused = payload.metrics.find(({ name }) => name === "profiler_refused_segments_total");
  assert(refused?.type === "counter" && refused.stats.total === 0);
}

test("an empty or unreadable symbol is replaced and counted, and nothing else is lost", async () => {
  await exactTwice("odd_names");
});

test("records with impossible numbers are counted as invalid, and nothing else is lost", async () => {
  await exactTwice("greatest");
});

test("the memory of a name may be reused after its module is unloaded", async () => {
  for (const scenario of ["reused_names", "long_names"]) await exact(scenario);
});

test("records without a start, or with an end before it, are counted as invalid only", async () => {
  await exact("invalid");
});

test("records that CUPTI lost are counted", async () => {
  await exact("lost");
});

test("records that arrive faster than they are read are counted as dropped", async () => {
  for (const toolkit of ["11.8", "13.0", "13.5"] as const) await flood(toolkit);
});

async function flood(toolkit: Toolkit) {
  const { payload, books: [own], status } = await runScenario("flood", { toolkit });
  assert.equal(status.code, 0);
  const cells = published(payload, own!.pid);
  const dropped = Number(cells.get("cuda_dropped_records_total  ")!.split(" ")[0]);
  let seen = 0;
  for (const metric of ["cuda_kernels_nanoseconds", "cuda_memcpy_nanoseconds"]) {
    for (const value of frames(payload, own!.pid, metric).values()) {
      seen += Number(value.split(" ")[1]);
    }
  }
  assert(dropped > 10_000, `${dropped} are dropped`);
  const difference = Math.abs(dropped + seen - 150_001);
  assert(difference < dropped / 50, `${seen} seen and ${dropped} dropped of 150,001`);
}

test("under all loads at once the library takes at most 24 MiB of a process", async () => {
  const peak = async (wrapper: string[]) => {
    const { status, books: [own] } = await runScenario("everything", { wrapper });
    assert.equal(status.code, 0);
    return parseInt(own!.cells.get("peak_bytes  ")!);
  };
  const more = await peak([]) - await peak(["env", "CUDA_INJECTION64_PATH=none"]);
  assert(more > 0 && more <= 24 << 20, `${more / 1024} KiB`);
});

test("10,000 threads launch", async () => {
  await exact("threads");
});
