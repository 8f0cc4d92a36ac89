/** Tests of two vendors' sources in one process: CUDA with its fakes, and a toy that only tests have. */

import assert from "node:assert/strict";
import type { Signals } from "@service/core";
import { missingCompiler, testUnless } from "../skipping.ts";
import { readLocal, until } from "../stack.ts";
import { compiler, missingSanitizer } from "../doubles/cuda/build.ts";
import {
  assertExact,
  booked,
  captureStates,
  frames,
  runScenario,
  SANITIZER_ENVIRONMENT,
  type ScenarioOptions,
} from "../doubles/cuda/harness.ts";

const NO_CUPTI = /cuda: no libcupti is loaded/;
const NO_TOY = /toy: no toy in this process/;

const test = testUnless(missingCompiler(compiler));

/** Runs a scenario with the toy that must succeed. */
async function run(scenario: string, options: ScenarioOptions = {}) {
  const outcome = await runScenario(scenario, { ...options, toy: true });
  assert.equal(outcome.status.code, 0, scenario);
  return outcome;
}

/** Waits for a capture state of the process, and then opens its gate. */
function saying(...reasons: RegExp[]): ScenarioOptions["during"] {
  return async ({ run, openGate }) => {
    await until(async () => {
      const text = captured(await readLocal(run));
      return text.startsWith("capturing") && reasons.every((reason) => reason.test(text));
    });
    await openGate();
  };
}

function captured({ resources }: Signals): string {
  return resources.map(({ attributes }) => attributes["profiler.capture"] ?? "").join("");
}

test("two sources publish in one segment, each under its prefix", async () => {
  const { payload, books } = await run("both");
  assertExact(payload, books);
  const [own] = books;
  assert.equal(frames(payload, own!.pid, "toy_kernels_nanoseconds").size, 3);
  assert(frames(payload, own!.pid, "cuda_kernels_nanoseconds").size > 3);
  const names = new Set(payload.metrics.map(({ name }) => name));
  // Metrics that a vendor does not record are absent, not zero.
  assert.deepEqual([...names].filter((name) => name.startsWith("toy_")).sort(), [
    "toy_dropped_records_total",
    "toy_invalid_records_total",
    "toy_kernel_duration_nanoseconds",
    "toy_kernels_nanoseconds",
    "toy_memcpy_bytes",
    "toy_memcpy_nanoseconds",
    "toy_wheels",
  ]);
  assert(!names.has("cuda_wheels") && names.has("cuda_graph_trace_mode"));
  assert(captureStates(payload).every((state) => state === "1 "), `${captureStates(payload)}`);
});

for (const scenario of ["toy_first", "begin_together"]) {
  test(`${scenario}: the order in which sources start does not matter`, async () => {
    const { payload, books } = await run(scenario);
    assertExact(payload, books);
  });
}

test("a source that cannot start gives its reason, and the other one works", async () => {
  const withoutToy = { env: { TOY_FAILS: "1" } };
  const cuda = await run("cuda_alone", { ...withoutToy, during: saying(NO_TOY) });
  assertExact(cuda.payload, cuda.books);

  const toy = await run("toy_alone", { toolkit: null, during: saying(NO_CUPTI) });
  const [own] = toy.books;
  const name = "toy_kernels_nanoseconds";
  assert.deepEqual(frames(toy.payload, own!.pid, name), booked(own!, name));
  assert(!toy.payload.metrics.some((metric) => metric.name.startsWith("cuda_")));

  const none = await run("toy_alone", { ...withoutToy, toolkit: null });
  const states = captureStates(none.payload);
  assert(states.some((text) => text.startsWith("0 ") && NO_CUPTI.test(text) && NO_TOY.test(text)));
});

test("lost records of a source are counted under its own prefix", async () => {
  const { payload, books: [own] } = await run("toy_loses");
  const dropped = (name: string) => payload.metrics.find((metric) => metric.name === name)!.stats;
  assert.deepEqual(booked(own!, "toy_dropped_records_total"), new Map([["", "10 0"]]));
  assert.equal((dropped("toy_dropped_records_total") as { total: number }).total, 10);
  assert.equal((dropped("cuda_dropped_records_total") as { total: number }).total, 0);
});

test("the child of a fork has neither source, and exits at once", async () => {
  const { payload, books } = await run("fork_both");
  assertExact(payload, books);
});

for (const sanitizer of ["address,undefined", "thread"] as const) {
  const env = SANITIZER_ENVIRONMENT;
  const test = testUnless(await missingSanitizer(sanitizer));
  test(`two sources hold under -fsanitize=${sanitizer}`, async () => {
    for (const scenario of ["both", "begin_together", "fork_both"]) {
      const { payload, books } = await run(scenario, { sanitizer, env });
      assertExact(payload, books);
    }
  });
}
