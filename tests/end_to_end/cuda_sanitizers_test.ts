/** The main scenarios with the workload, the fakes and the library under the compiler's sanitizers. */

import assert from "node:assert/strict";
import { missingSanitizer, type Sanitizer } from "../doubles/cuda/build.ts";
import {
  assertExact,
  runScenario,
  SANITIZER_ENVIRONMENT,
  type ScenarioOptions,
} from "../doubles/cuda/harness.ts";
import { testUnless } from "../skipping.ts";

interface Watched extends ScenarioOptions {
  scenario: string;
  /** The recorded values differ from the books. */
  loses?: boolean;
  /** Not under the thread sanitizer, which does not support it. */
  notThread?: boolean;
}

const NODE_MODE = {
  flags: ["--cuda-graph-trace", "node"],
  env: { WORKLOAD_NODE_MODE: "1" },
};

const WATCHED: Watched[] = [
  { scenario: "steady" },
  { scenario: "steady", toolkit: "11.8", notThread: true },
  { scenario: "overlap" },
  { scenario: "graphs" },
  { scenario: "graphs", ...NODE_MODE, notThread: true },
  { scenario: "child_graphs", notThread: true },
  { scenario: "captures" },
  { scenario: "threads", env: { WORKLOAD_THREADS: "1000" } },
  { scenario: "fork_and_exit" },
  { scenario: "fork_before_init", notThread: true },
  { scenario: "fork_and_exec", notThread: true },
  { scenario: "exit_from_thread" },
  { scenario: "exit_while_launching", loses: true },
  { scenario: "exit_while_running" },
  { scenario: "closed_injection", notThread: true },
  { scenario: "usurped", loses: true },
  { scenario: "finalized", loses: true },
  { scenario: "flood", loses: true },
  { scenario: "many_symbols", loses: true },
  { scenario: "long_symbols", loses: true, notThread: true },
  { scenario: "reused_names" },
  { scenario: "long_names" },
  { scenario: "odd_names", notThread: true },
  { scenario: "greatest", notThread: true },
  { scenario: "invalid", notThread: true },
  { scenario: "lost", notThread: true },
];

for (const sanitizer of ["address,undefined", "thread"] as const) {
  const test = testUnless(await missingSanitizer(sanitizer));
  test(
    `the library holds in a workload under -fsanitize=${sanitizer}`,
    async (t) => {
      for (const watched of WATCHED) {
        if (sanitizer === "thread" && watched.notThread) continue;
        const { scenario, toolkit = "13.0" } = watched;
        await t.step(`${scenario}, CUPTI of ${toolkit}`, () => holds(watched, sanitizer));
      }
    },
  );
}

async function holds({ scenario, loses, ...options }: Watched, sanitizer: Sanitizer) {
  const env = { ...options.env, ...SANITIZER_ENVIRONMENT };
  const { status, payload, books } = await runScenario(scenario, { ...options, env, sanitizer });
  assert.equal(status.code, 0, scenario);
  if (!loses) assertExact(payload, books);
}
