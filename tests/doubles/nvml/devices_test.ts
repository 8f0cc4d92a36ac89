/** The poller of NVIDIA's devices, over the fake driver. */

import assert from "node:assert/strict";
import { missingCompiler, testUnless } from "../../skipping.ts";
import { compiler } from "../cuda/build.ts";
import { openBench, valuesOf } from "./harness.ts";

const test = testUnless(missingCompiler(compiler));
const FIRST = "GPU-00000000-0000-4000-8000-000000000000";
const SECOND = "GPU-00000001-0000-4000-8000-000000000000";

test("each device has its gauges, exact in their units, and counters from 0 on", async () => {
  await using bench = await openBench(`
    devices 2
    set 0 power 350125
    set 0 utilization 97
    set 1 energy 5000000
  `);
  const poller = await bench.poll();
  const first = await poller.until((published) =>
    Object.keys(valuesOf(published, "gpu_power_usage_watts")).length === 2
  );
  assert.equal(first.state, "capturing");
  assert.deepEqual(valuesOf(first, "gpu_power_usage_watts"), { [FIRST]: 350.125, [SECOND]: 71.25 });
  assert.deepEqual(valuesOf(first, "gpu_utilization_percent"), { [FIRST]: 97, [SECOND]: 0 });
  assert.deepEqual(valuesOf(first, "gpu_energy_joules"), { [FIRST]: 0, [SECOND]: 0 });
  await bench.script("devices 2\nset 1 energy 5000750");
  const second = await poller.until((published) =>
    valuesOf(published, "gpu_energy_joules")[SECOND] !== 0
  );
  assert.equal(valuesOf(second, "gpu_energy_joules")[SECOND], 0.75);
  const { status, stdout, stderr } = await poller.stop();
  assert.equal(status.code, 0, stdout + stderr);
});
