/** Which CUPTI is used, and what is said where none can be: the workload runs as without the profiler. */

import assert from "node:assert/strict";
import { compiler, libraries, otherTool } from "../doubles/cuda/build.ts";
import { captureStates, exact, refused, runScenario } from "../doubles/cuda/harness.ts";
import { missingCompiler, testUnless } from "../skipping.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

const test = testUnless(missingCompiler(compiler));

/** Runs with copies of files: `files` by path in a new folder; those in `loads` are loaded first. */
async function withFiles(
  files: Record<string, string>,
  options: { loads: string[]; env?: (folder: string) => Record<string, string> },
): Promise<string> {
  await using folder = await temporaryDirectory();
  for (const [path, from] of Object.entries(files)) {
    const parent = `${folder.path}/${path}`.replace(/\/[^/]*$/, "");
    await Deno.mkdir(parent, { recursive: true });
    await Deno.copyFile(from, `${folder.path}/${path}`);
  }
  let maps = "";
  await exact("live", {
    toolkit: null,
    env: {
      ...options.env?.(folder.path),
      WORKLOAD_LOADS: options.loads.map((path) => `${folder.path}/${path}`).join(":"),
    },
    async during({ kept, openGate }) {
      const [own] = await kept();
      maps = await Deno.readTextFile(`/proc/${own!.pid}/maps`);
      await openGate();
    },
  });
  const used = new Set(maps.match(/\S*libcupti\S*/g));
  assert.equal(used.size, 1, [...used].join());
  return [...used][0]!.slice(folder.path.length + 1);
}

test("the loaded CUPTI is used, else that of the process's CUDA, in any known folder", async () => {
  const cupti12 = `${await libraries("12.4")}/libcupti.so.12`;
  const cupti13 = `${await libraries("13.0")}/libcupti.so.13`;
  const runtime = await otherTool();
  const wheel12 = "site-packages/nvidia/cuda_cupti/lib/libcupti.so.12";
  const wheel13 = "site-packages/nvidia/cu13/lib/libcupti.so.13";
  const runtime12 = "site-packages/nvidia/cuda_runtime/lib/libcudart.so.12";
  const toolkit = "cuda/extras/CUPTI/lib64/libcupti.so.13";
  const env = (folder: string) => ({ CUDA_HOME: `${folder}/cuda` });
  const files = {
    [wheel12]: cupti12,
    [wheel13]: cupti13,
    [toolkit]: cupti13,
    [runtime12]: runtime,
  };
  assert.equal(await withFiles(files, { loads: [runtime12], env }), wheel12);
  assert.equal(await withFiles(files, { loads: [runtime12, toolkit], env }), toolkit);
  assert.equal(await withFiles({ [toolkit]: cupti13 }, { loads: [], env }), toolkit);
  const newer = { [wheel13]: cupti13, "site-packages/nvidia/cu13/lib/libcudart.so.13": runtime };
  assert.equal(await withFiles(newer, { loads: [Object.keys(newer)[1]!] }), wheel13);
});

test("without a CUPTI the workload runs, and the payload says so", async () => {
  await refused({ toolkit: null }, /cupti/i);
});

for (
  const [error, meaning] of [
    ["15", /cannot connect to the driver.* error 15\)$/],
    ["23", /another profiler is active.* error 23\)$/],
    ["35", /may not profile.*NVreg_.* error 35\)$/],
    ["77", /refused a call \(cuptiActivityEnable\(9\): CUPTI error 77\)$/],
    ["999", /check that nvidia-smi works.* error 999\)$/],
  ] as const
) {
  test(`with CUPTI's error ${error} the workload runs, and the payload says so`, async () => {
    await refused({ env: { FAKE_ENABLE: error } }, meaning);
  });
}

test("a libcupti newer than the driver is named with both versions", async () => {
  await using folder = await temporaryDirectory();
  const runtime = `${folder.path}/libcudart.so.13`;
  await Deno.copyFile(await otherTool(), runtime);
  for (const error of ["15", "999"]) {
    await refused({
      env: { FAKE_ENABLE: error, FAKE_DRIVER: "12040", WORKLOAD_LOADS: runtime },
    }, /CUDA 13\.0 is newer than the driver, which supports CUDA 12\.4: update/);
  }
});

test("without a driver the payload says so", async () => {
  const { status, payload } = await runScenario("no_driver");
  assert.equal(status.code, 0);
  assert.match(captureStates(payload).join(), /^0 this process has no CUDA driver: libcuda/);
});
