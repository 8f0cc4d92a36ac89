/**
 * The strict double itself: its rules hold for each generation of drivers, and it agrees with NVIDIA's
 * headers on this machine: `$NVML_HEADERS` (files, separated by `:`), the toolkit of `$CUDA_HOME`, the
 * wheels that python3 sees.
 */
import assert from "node:assert/strict";
import { run } from "../../command.ts";
import { missingCompiler, testUnless } from "../../skipping.ts";
import { compiler } from "../cuda/build.ts";
import { findHeaders } from "../nvml/headers.ts";
import { compareWith, type Driver, DRIVERS, proof, strictNvml } from "./build.ts";

const test = testUnless(missingCompiler(compiler));

for (const driver of DRIVERS) {
  test(`the rules of the strict NVML hold for driver ${driver}`, async () => {
    const { status, stdout, stderr } = await run([
      await proof(driver),
      await strictNvml(driver),
    ]);
    assert(status.success, stderr);
    assert(stdout.split("\n").includes("events"), stdout);
  });
}

const headers = await findHeaders();
const testHeaders = testUnless(
  missingCompiler(compiler) ?? (headers.length > 0 ? null : "no nvml.h"),
);

testHeaders("the strict NVML agrees with real headers", async () => {
  for (const header of headers) {
    assert.equal(await compareWith(header, driverOf(await Deno.readTextFile(header))), "", header);
  }
});

/** The generation of a header, by the highest of its fields. */
function driverOf(header: string): Driver {
  const fields = Number(/#define NVML_FI_MAX\s+(\d+)/.exec(header)?.[1]);
  if (fields >= 310) return 615;
  if (fields >= 274) return 580;
  if (fields >= 200) return 550;
  return fields >= 197 ? 535 : 470;
}
