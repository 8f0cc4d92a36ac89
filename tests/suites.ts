/**
 * Suites of tests: `deno task test` runs all, `deno task test core edge` the named ones. Prints counts
 * and seconds of each suite, failures, reasons of skipped tests, and the total.
 */

import { ROOT } from "./layout.ts";

/** Files and folders of each suite, the longest first. */
export const SUITES: Readonly<Record<string, readonly string[]>> = {
  end_to_end: ["tests/end_to_end"],
  ffi: ["tests/doubles", "ffi", "tests/segment"],
  edge: ["edge"],
  local: ["local"],
  faults: ["tests/faults"],
  core: ["core"],
  engines: ["tests/engines"],
  repository: [
    "mod.ts",
    "tests/bench",
    "tests/command_test.ts",
    "tests/gpu",
    "tests/layout_test.ts",
    "tests/suites_test.ts",
  ],
};

/** Variable that names a folder: what test files build there is built once for all of them. */
export const SHARED_BUILDS = "SERVICE_TEST_BUILDS";

/** Suites that run at a time: many tests wait for processes and their seconds, beside those that compute. */
const LANES = 2;

/** Outcome of a suite. */
export interface Outcome {
  suite: string;
  seconds: number;
  passed: number;
  failed: number;
  /** Reasons of the tests that were skipped. */
  skipped: string[];
  /** Names of the tests that failed. */
  failures: string[];
}

/** Outcome of a suite, read from the output of `deno test` without colours. */
export function readOutcome(suite: string, seconds: number, printed: string): Outcome {
  const counts = /^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed/m.exec(printed);
  const lines = (end: string) =>
    Array.from(
      printed.matchAll(new RegExp(`^(.*) \\.\\.\\. ${end} \\(\\S+\\)$`, "gm")),
      ([, line]) => line!,
    );
  return {
    suite,
    seconds,
    passed: Number(counts?.[1] ?? 0),
    // A suite that cannot be run has failed.
    failed: Number(counts?.[2] ?? 1),
    skipped: lines("ignored").map((line) =>
      /\(skipped: (.*)\)$/.exec(line)?.[1] ?? "no reason is given"
    ),
    failures: lines("FAILED"),
  };
}

/** The lines that sum up the outcomes, the total last. */
export function summary(outcomes: readonly Outcome[]): string[] {
  const row = (suite: string, ...cells: (string | number)[]) =>
    suite.padEnd(12) + cells.map((cell) => String(cell).padStart(9)).join("");
  const total = (of: "passed" | "failed") =>
    outcomes.reduce((sum, outcome) => sum + outcome[of], 0);
  const reasons = Map.groupBy(outcomes.flatMap(({ skipped }) => skipped), (reason) => reason);
  return [
    row("suite", "passed", "failed", "skipped", "seconds"),
    ...outcomes.map(({ suite, passed, failed, skipped, seconds }) =>
      row(suite, passed, failed, skipped.length, seconds.toFixed(1))
    ),
    ...outcomes.flatMap(({ failures }) => failures.map((name) => `failed: ${name}`)),
    ...[...reasons].map(([reason, { length }]) => `${length} skipped: ${reason}`),
    `${total("passed")} passed, ${total("failed")} failed`,
  ];
}

async function run(suite: string, builds: string): Promise<Outcome> {
  const started_ms = performance.now();
  // `deno task check` has checked the types.
  const flags = ["-A", "--parallel", "--no-check", "--doc", "--quiet"];
  const args = ["test", ...flags, ...SUITES[suite]!];
  const env = { NO_COLOR: "1", [SHARED_BUILDS]: builds };
  const command = new Deno.Command(Deno.execPath(), { args, env, cwd: ROOT, stdout: "piped" });
  const { stdout, status } = command.spawn();
  let printed = "";
  for await (const text of stdout.pipeThrough(new TextDecoderStream())) {
    const [shown, whole] = [printed, printed + text].map((all) => all.lastIndexOf("\n") + 1);
    printed += text;
    // Whole lines: another suite prints beside this one.
    Deno.stdout.writeSync(new TextEncoder().encode(printed.slice(shown, whole)));
  }
  const outcome = readOutcome(suite, (performance.now() - started_ms) / 1_000, printed);
  const { success } = await status;
  return success || outcome.failed > 0 ? outcome : { ...outcome, failed: 1 };
}

if (import.meta.main) {
  const named = Deno.args.length > 0 ? Deno.args : Object.keys(SUITES);
  const unknown = named.find((suite) => !(suite in SUITES));
  if (unknown) {
    throw new Error(`Cannot run ${unknown}: suites are ${Object.keys(SUITES).join(", ")}`);
  }
  const builds = await Deno.makeTempDir({ prefix: "service-test-builds-" });
  const outcomes: Outcome[] = [];
  const left = named.entries();
  const lane = async () => {
    for (const [at, suite] of left) outcomes[at] = await run(suite, builds);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await Deno.remove(builds, { recursive: true });
  for (const line of ["", ...summary(outcomes)]) console.log(line);
  if (outcomes.some(({ failed }) => failed > 0)) Deno.exit(1);
}
