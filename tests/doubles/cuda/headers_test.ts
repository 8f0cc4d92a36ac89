/**
 * Comparison of `ffi/cuda/cupti.h` with all real CUPTI headers and libraries on this machine, and runs
 * with the libraries, which refuse a process without a driver: `$CUPTI_HEADERS` (include directories, of CUDA too, separated by `:`; sets of them by `;`) and
 * `$CUPTI_LIBRARIES` (files), the toolkit of `$CUDA_HOME`, the wheels that python3 sees.
 */
import assert from "node:assert/strict";
import { run } from "../../command.ts";
import { missingCompiler, testUnless } from "../../skipping.ts";
import { runScenario } from "./harness.ts";

type Steps = Record<string, number>;

const HERE = new URL("./", import.meta.url).pathname;
const FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"];
const CUDA = Deno.env.get("CUDA_HOME") ?? "/usr/local/cuda";

/** Step of the record iterator by `cuptiGetVersion`, valid from that version on. */
const STEPS: [number, Steps][] = [
  [18, { memcpy: 88, memcpy2: 96, memset: 88, synchronization: 40, graph_trace: 48 }],
  [22, { memcpy: 88, memcpy2: 96, memset: 88, synchronization: 40, graph_trace: 56, kernel: 208 }],
  [26, { memcpy: 96, memcpy2: 96, memset: 88, synchronization: 56, graph_trace: 56, kernel: 208 }],
  [130000, { memcpy: 96, memcpy2: 96, memset: 88, synchronization: 56, graph_trace: 56 }],
];

const headers = await findHeaders();
const libraries = await findLibraries();
const compiles = await print("cc", "--version") !== null;

test("real CUPTI headers agree with ours", headers, async (set) => {
  const include = set.split(":").flatMap((path) => ["-isystem", path]);
  const { status, stderr } = await run([
    ...["cc", ...FLAGS, "-fsyntax-only"],
    ...[...include, `${HERE}headers.c`],
  ]);
  assert(status.success, stderr);
});

test("a real libcupti steps over records as the fake does", libraries, async (library) => {
  const program = await Deno.makeTempFile();
  try {
    assert(await print("cc", ...FLAGS, `${HERE}parse.c`, "-ldl", "-o", program) !== null);
    const printed = await print(program, library);
    assert(printed !== null, `cannot walk records with ${library}`);
    const { version, ...steps }: Steps = JSON.parse(printed);
    if (version === undefined) return;
    const expected = STEPS.findLast(([since]) => version >= since)?.[1] ?? {};
    for (const [kind, step] of Object.entries(expected)) {
      // Later versions append.
      if (version < 130100) assert.equal(steps[kind], step, kind);
      else assert(steps[kind]! >= step, kind);
    }
  } finally {
    await Deno.remove(program);
  }
});

test("a real libcupti refuses in words", libraries, async (library) => {
  const directory = library.replace(/\/[^/]*$/, "");
  const reason = async (scenario: string, env: Record<string, string>) => {
    const { status, payload } = await runScenario(scenario, { toolkit: null, env });
    assert(status.success);
    return payload.metrics.find(({ name, tags }) =>
      name === "profiler_capture_state" && tags["capture"] === "gpu_kernels" && tags["process.pid"]
    )?.tags["reason"];
  };
  // A driver that this libcupti does not know, then none.
  assert.match(
    await reason("steady", { WORKLOAD_LOADS: library }) ?? "",
    /^CUPTI (cannot connect to the driver|failed and does not say why): .* error \d+\)$/,
  );
  assert.match(
    await reason("no_driver", { LD_LIBRARY_PATH: directory }) ?? "",
    /^this process has no CUDA driver: .* error \d+\)$/,
  );
});

function test(name: string, items: string[], check: (item: string) => Promise<void>): void {
  const missing = missingCompiler(compiles) ?? (items.length > 0 ? null : "no CUPTI");
  if (missing) testUnless(missing)(name, () => {});
  else for (const item of items) Deno.test(`${name}: ${item}`, () => check(item));
}

async function findHeaders(): Promise<string[]> {
  const given = Deno.env.get("CUPTI_HEADERS")?.split(";").filter((set) => set !== "") ?? [];
  if (given.length > 0) return given;
  const toolkit = `${CUDA}/extras/CUPTI/include`;
  if (exists(`${toolkit}/cupti.h`)) return [`${toolkit}:${CUDA}/include`];
  const wheels = await inWheels("*/include");
  const all = wheels.join(":");
  const isComplete = ["cupti.h", "cuda.h", "crt/host_defines.h"].every((name) =>
    wheels.some((path) => exists(`${path}/${name}`))
  );
  return isComplete ? [all] : [];
}

async function findLibraries(): Promise<string[]> {
  const given = Deno.env.get("CUPTI_LIBRARIES")?.split(":").filter((path) => path !== "") ?? [];
  if (given.length > 0) return given;
  return await inWheels("*/lib/libcupti.so.*");
}

/** Paths in the folder `nvidia` of the packages of the python3 on PATH. */
async function inWheels(pattern: string): Promise<string[]> {
  const code = "import glob, sys\n" +
    "for path in sys.path: print(*glob.glob(path + '/nvidia/' + sys.argv[1]), sep='\\n')";
  const printed = await print("python3", "-c", code, pattern);
  return printed?.split("\n").filter((path) => path !== "") ?? [];
}

/** Output of a command, or `null` if it is missing or fails. */
async function print(...words: string[]): Promise<string | null> {
  try {
    const { status, stdout } = await run(words);
    return status.success ? stdout : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
