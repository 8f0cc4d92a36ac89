/** Runs over the strict double: what the document says of machines in good and in bad order. */

import assert from "node:assert/strict";
import { encode, type Signals } from "@service/core";
import { missingCompiler, testUnless } from "../../skipping.ts";
import { readLocal, type Run } from "../../stack.ts";
import { compiler } from "../cuda/build.ts";
import { assertFair, byDevice, callsOf, openReferee } from "./harness.ts";
import { FIRST, gauge, messages, SCENARIOS, SECOND } from "./scenarios.ts";

/** Limit of the time until a document says what it must say. */
const PATIENCE_MS = 20_000;
const LOOK_AGAIN_MS = 100;

const test = testUnless(missingCompiler(compiler));

for (const { says, driver, script, during, document } of SCENARIOS) {
  test(says, async () => {
    await using referee = await openReferee(script, { driver });
    await using run = referee.run();
    try {
      await during({ referee, run, sees: (condition) => sees(run, condition) });
    } finally {
      await referee.openGate();
    }
    const { status, stderr } = await run.ended;
    assert(status.success, stderr);
    assertFair(await referee.ledger());
    document?.(await referee.last());
  });
}

/** The document of a run's last seconds, as soon as `condition` holds for it. */
async function sees(run: Run, condition: (payload: Signals) => boolean): Promise<Signals> {
  const deadline_ms = performance.now() + PATIENCE_MS;
  for (;;) {
    const payload = await readLocal(run, "?seconds=3");
    if (condition(payload)) return payload;
    if (performance.now() > deadline_ms) {
      const values = payload.metrics.filter(({ name }) => /^(gpu|profiler_capture)_/.test(name))
        .map(({ name, tags, stats }) => `${name} ${Object.values(tags)} ${encode(stats)}`);
      throw new Error(
        [`Cannot wait any longer: ${condition}`, ...messages(payload), ...values].join("\n"),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

/** Three GPUs, the second one divided. */
const DIVIDED = `
  device h100 0000:1b:00.0
  device h100 0000:2b:00.0
  device h100 0000:3b:00.0
  mig 1 9 0 9856 16 NVIDIA H100 80GB HBM3 MIG 1g.10gb
  mig 1 2 0 40192 60 NVIDIA H100 80GB HBM3 MIG 3g.40gb
`;

test("each of two runs reports its own devices, and each device is asked by one", async () => {
  await using referee = await openReferee(DIVIDED);
  const mig = "MIG-d1e2f301-0002-0000-8000-000000002b00";
  const masks = { first: "0", second: `${mig}`, third: "" };
  const runs = Object.entries(masks).map(([name, mask]) =>
    referee.run({ name, env: { CUDA_VISIBLE_DEVICES: mask, CUDA_DEVICE_ORDER: "PCI_BUS_ID" } })
  );
  const [first, second] = runs;
  await sees(first!, (payload) => gauge(payload, "gpu_sm_utilization_percent", FIRST) === 0);
  await sees(second!, (payload) => gauge(payload, "gpu_sm_utilization_percent", mig) === 0);
  await referee.openGate();
  for (const { ended } of runs) assert((await ended).status.success);
  const uuids = async (name: string) =>
    [
      ...new Set(
        (await referee.last(name)).metrics.flatMap(({ tags }) => tags["device.uuid"] ?? []),
      ),
    ].sort();
  assert.deepEqual(await uuids("first"), [FIRST]);
  // Its parent has the power and the heat.
  assert.deepEqual(await uuids("second"), [SECOND, mig]);
  assert.deepEqual(await uuids("third"), []);
  const ledger = await referee.ledger();
  assertFair(ledger);
  for (const device of ["0", "1", "2"]) {
    const polls = callsOf(ledger, "nvmlDeviceGetPowerUsage").filter((call) =>
      call.device === device
    );
    const at = polls.map(({ at_us }) => at_us).sort((a, b) => a - b);
    // The first poll is at once, all others on a second of their own.
    const steps = at.slice(2).map((time, i) => time - at[i + 1]!);
    assert(steps.every((step) => step > 300_000), `${device}: ${steps}`);
  }
});

test("sixteen devices, and fifty-six MIG devices, have each of their values", async () => {
  const buses = Array.from({ length: 16 }, (_, i) => (0x10 + i).toString(16));
  const lines = buses.map((bus) => `device h100 0000:${bus}:00.0`);
  for (let gpu = 8; gpu < 16; gpu++) {
    for (let gi = 7; gi <= 13; gi++) lines.push(`mig ${gpu} ${gi} 0 9856 16 H100 MIG 1g.10gb`);
  }
  await using referee = await openReferee(lines.join("\n"));
  await using run = referee.run();
  const payload = await sees(
    run,
    (payload) => Object.keys(byDevice(payload, "gpu_sm_utilization_percent")).length === 8 + 56,
  );
  assert.equal(Object.keys(byDevice(payload, "gpu_power_usage_watts")).length, 16);
  assert.equal(Object.keys(byDevice(payload, "gpu_memory_used_bytes")).length, 16 + 56);
  assert.equal(Object.keys(byDevice(payload, "gpu_throttled_nanoseconds")).length, 16);
  assert.equal(Object.keys(byDevice(payload, "profiler_unsupported_metrics")).length, 16 + 56);
  await referee.openGate();
  assert((await run.ended).status.success);
  assertFair(await referee.ledger());
});

for (
  const [says, lines] of [
    ["a call on a device", "device h100 0000:1b:00.0\nhang 0 nvmlDeviceGetPowerUsage locked"],
    ["the initialization", "device h100 0000:1b:00.0\nhang * nvmlInit_v2"],
    ["the wait for events", "device h100 0000:1b:00.0\nhang * nvmlEventSetWait_v2"],
    ["a slow initialization", "device h100 0000:1b:00.0\ndelay nvmlInit_v2 60000000 60000000"],
  ] as const
) {
  test(`a command ends as it does alone while NVML hangs: ${says}`, async () => {
    await using referee = await openReferee(lines);
    const env = { SERVICE_DEBUG: "" };
    const shells: [shell: string, code: number][] = [["exit 7", 7], ["sleep 2; kill -9 $$", 137]];
    for (const [shell, code] of shells) {
      const before_ms = performance.now();
      await using run = referee.run({ shell, env });
      const { status, stderr } = await run.ended;
      assert.deepEqual([status.code, stderr], [code, ""]);
      assert(performance.now() - before_ms < (code === 7 ? 3_000 : 6_000), "it waits");
    }
  });
}

test("a host without a driver hears nothing of devices", async () => {
  await using referee = await openReferee("");
  const env = { SERVICE_DEBUG: "", SERVICE_NVML_LIBRARY: "", LD_LIBRARY_PATH: "" };
  await using run = referee.run({ env, shell: "sleep 2" });
  const { status, stderr, stdout } = await run.ended;
  assert.deepEqual([status.code, stdout, stderr], [0, "", ""]);
  const payload = await referee.last();
  assert.deepEqual(messages(payload), []);
  const devices = payload.metrics.filter(({ name }) => name.startsWith("gpu_"));
  assert.deepEqual(devices, []);
  const states = payload.metrics.filter(({ tags }) => tags["capture"] === "gpu_devices");
  assert.deepEqual(states.map(({ stats, tags }) => [encode(stats), tags["reason"]]), [
    ['{"value":0}', "no NVIDIA driver: there is no libnvidia-ml.so.1"],
  ]);
});
