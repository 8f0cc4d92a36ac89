/** The poller over the strict double: what it publishes, what it may call, and how often. */

import assert from "node:assert/strict";
import { missingCompiler, testUnless } from "../../skipping.ts";
import { compiler } from "../cuda/build.ts";
import { type Published, valuesOf } from "../nvml/harness.ts";
import { DRIVERS, fastTime } from "./build.ts";
import { assertFair, callsOf, openReferee, uuidOf } from "./harness.ts";

const test = testUnless(missingCompiler(compiler));

/** A machine with one device of each kind. */
const ZOO = `
  device h100 0000:1b:00.0
  device a100 0000:2b:00.0
  device l4 0000:3b:00.0
  device v100 0000:4b:00.0
  device rtx4090 0000:5b:00.0
  device gtx1080 0000:6b:00.0
  device gb10 0000:7b:00.0
  device vgpu 0000:8b:00.0
  device b200 0000:9b:00.0
`;
const H100 = uuidOf(0, 0x1b00);

/** Whether each of so many devices has been polled `times` times. */
function polled(devices: number, times = 1): (published: Published) => boolean {
  let before = 0;
  let seen = 0;
  return (published) => {
    const values = Object.values(valuesOf(published, "polled"));
    const oldest = values.length < devices ? 0 : Math.min(...values);
    if (oldest <= before) return false;
    before = oldest;
    return ++seen >= times;
  };
}

for (const driver of DRIVERS) {
  test(`driver ${driver}: one thread asks every kind of device, and misuses nothing`, async () => {
    await using referee = await openReferee(ZOO, { driver });
    const poller = await referee.poll();
    const published = await poller.until(polled(9, 3));
    assert.equal(published.state, "capturing", published.reason);
    assert.equal(Object.keys(valuesOf(published, "gpu_utilization_percent")).length, 9);
    const { status, stderr } = await poller.stop();
    assert(status.success, stderr);
    const ledger = await referee.ledger();
    assertFair(ledger);
    // What a device refuses is asked once.
    const refused = ledger.filter(({ word, result }) => word === "call" && result === 3);
    const kinds = new Map<string, number>();
    for (const { function: name, device } of refused) {
      kinds.set(`${name} ${device}`, (kinds.get(`${name} ${device}`) ?? 0) + 1);
    }
    const often = [...kinds].filter(([name, count]) => count > 2 && !name.includes("FieldValues"));
    assert.deepEqual(often, []);
    // 20 ms each.
    assert(callsOf(ledger, "nvmlDeviceGetPcieThroughput").length <= 2 * 5);
  });
}

test("10,000 polls take no more memory than 1,000", async () => {
  await using referee = await openReferee(`
    device h100 0000:1b:00.0
    device l4 0000:2b:00.0
    set 0 energy 0 1000000
  `);
  const env = { LD_PRELOAD: await fastTime(), FAST_TIME: "1000", NVML_STRICT_LEDGER: "" };
  const poller = await referee.poll(env);
  const seconds = (published: Published) => valuesOf(published, "gpu_energy_joules")[H100]! / 1_000;
  const resident = async (polls: number) => {
    await poller.until((published) => seconds(published) >= polls);
    const statm = await Deno.readTextFile(`/proc/${poller.started.process.pid}/statm`);
    return Number(statm.split(" ")[1]);
  };
  const before = await resident(1_000);
  assert(await resident(10_000) - before <= 16, "pages");
});
