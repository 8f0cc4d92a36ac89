/**
 * Checks on a real NVIDIA GPU: `deno task test:gpu`. Writes `docs/gpu-results.md`, and fails if a check
 * fails. On a machine without a GPU, prints the reason and skips all.
 */

import { type Finding, finding } from "./finding.ts";
import { checkCounts } from "./counts.ts";
import { compareDevices } from "./devices.ts";
import { measureLatency } from "./latency.ts";
import { measureOverhead } from "./overhead.ts";
import { answerQuestions } from "./questions.ts";
import { watchRecords } from "./records.ts";
import { type Machine, page } from "./results.ts";
import { plain } from "./runs.ts";
import { checkTorch, hasTorch } from "./torch.ts";

const HERE = new URL("./", import.meta.url).pathname;
const RESULTS = `${HERE}../../docs/gpu-results.md`;
const FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"];

const directory = await Deno.makeTempDir({ prefix: "service-gpu-" });
try {
  Deno.exitCode = await main(directory);
} finally {
  await Deno.remove(directory, { recursive: true });
}

async function main(directory: string): Promise<number> {
  const workload = `${directory}/workload`;
  const machine = await build(workload).then(() => describe(workload)).catch((error: Error) => {
    console.log(`skipped: ${error.message}`);
    return null;
  });
  if (!machine) return 0;
  const findings: Finding[] = [];
  for await (const found of all(workload, directory)) {
    findings.push(found);
    print(found);
  }
  await Deno.writeTextFile(RESULTS, page(machine, findings));
  await plain([Deno.execPath(), "fmt", "--quiet", RESULTS]);
  return findings.some(({ holds }) => holds === false) ? 1 : 0;
}

/** All checks; an error in one does not stop the others. */
async function* all(workload: string, directory: string): AsyncGenerator<Finding> {
  yield* attempt("known work, graph mode", () => checkCounts(workload, "graph"));
  yield* attempt("known work, node mode", () => checkCounts(workload, "node"));
  yield* attempt("open questions", () => askCupti(workload, directory));
  yield* attempt("devices beside nvidia-smi", () => compareDevices(workload));
  yield* attempt("latency with and without polling", () => measureLatency(workload));
  yield* attempt("overhead", () => measureOverhead(workload));
  yield* attempt("many records", () => watchRecords(workload));
  if (await hasTorch()) yield* attempt("torch", () => checkTorch());
  else yield { what: "torch", found: "skipped: python3 has no torch that sees a GPU" };
}

async function* attempt(
  what: string,
  check: () => Promise<Finding[]> | AsyncIterable<Finding>,
): AsyncGenerator<Finding> {
  try {
    yield* await check();
  } catch (error) {
    yield finding(what, String(error).split("\n")[0]!, false, "done");
  }
}

async function askCupti(workload: string, directory: string): Promise<Finding[]> {
  const library = `${directory}/questions.so`;
  const shared = ["-shared", "-fPIC", "-fvisibility=hidden"];
  await plain(["cc", ...FLAGS, ...shared, `${HERE}questions.c`, "-ldl", "-o", library]);
  return await answerQuestions(workload, library);
}

async function build(workload: string): Promise<void> {
  try {
    await plain(["cc", ...FLAGS, `${HERE}workload.c`, "-ldl", "-o", workload]);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new Error("no C compiler was found");
    throw error;
  }
}

async function describe(workload: string): Promise<Machine> {
  const { stdout } = await plain([workload, "device"])
    .catch(() => Promise.reject(new Error("no NVIDIA driver was found, or it sees no GPU")));
  const query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"];
  const driver = await plain(query).then(({ stdout }) => stdout.trim(), () => "unknown");
  return {
    ...JSON.parse(stdout),
    driver: driver.split("\n")[0],
    cores: navigator.hardwareConcurrency,
    kernel: Deno.osRelease(),
    deno: Deno.version.deno,
    date: new Date().toISOString().slice(0, 10),
  };
}

function print({ what, found, expected, holds }: Finding): void {
  const mark = holds === undefined ? " " : holds ? "✓" : "✗";
  console.log(`${mark} ${what}: ${found}${holds === false ? ` (must be ${expected})` : ""}`);
}
