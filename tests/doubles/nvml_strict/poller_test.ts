/** The poller over the strict double: what it publishes, what it may call, and how often. */

import assert from "node:assert/strict";
import { missingCompiler, testUnless } from "../../skipping.ts";
import { compiler } from "../cuda/build.ts";
import { faster, type Published, valuesOf } from "../nvml/harness.ts";
import { DRIVERS } from "./build.ts";
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
    const poller = await referee.poll(faster(10));
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
    // 20 ms each: two of one device in a poll.
    const polls = callsOf(ledger, "nvmlDeviceGetPowerUsage").filter(({ device }) => device === "0");
    assert(callsOf(ledger, "nvmlDeviceGetPcieThroughput").length <= 2 * polls.length);
  });
}

const H100_ALONE = "device h100 0000:1b:00.0";

test("a driver that is loaded again, even later, lets counters go on", async () => {
  await using referee = await openReferee(`${H100_ALONE}
    set 0 energy 9000000
    set 0 pcie_replay 4000000000`);
  const poller = await referee.poll(faster(20));
  await poller.until((published) => valuesOf(published, "gpu_energy_joules")[H100] === 0);
  await referee.say("set 0 energy 9005000\nset 0 pcie_replay 4000000007");
  await poller.until((published) => valuesOf(published, "gpu_energy_joules")[H100] === 5);
  await referee.say("down 9");
  const away = await poller.until(({ state }) => state === "interrupted");
  assert.match(away.reason, /driver is not loaded/);
  assert.deepEqual(valuesOf(away, "gpu_power_usage_watts"), {});
  // It is looked for more than once.
  while (callsOf(await referee.ledger(), "nvmlInit_v2").length < 3) await poller.until(() => true);
  await referee.say("up\nset 0 energy 7000\nset 0 pcie_replay 2");
  const back = await poller.until(({ readings, state }) =>
    state === "capturing" && readings.some(({ name }) => name === "gpu_power_usage_watts")
  );
  // All since the driver was loaded.
  assert.equal(valuesOf(back, "gpu_energy_joules")[H100], 12);
  assert.equal(valuesOf(back, "gpu_pcie_replay_counter")[H100], 9);
  assert((await poller.stop()).status.success);
  assertFair(await referee.ledger());
});

test("a link that is down hides nothing of the others", async () => {
  await using referee = await openReferee(`${H100_ALONE}
    set 0 link_active.3 0
    set 0 nvlink_replay.0 4294967290
    set 0 nvlink_crc_flit.17 5`);
  const poller = await referee.poll(faster(20));
  await poller.until((published) => valuesOf(published, "gpu_nvlink_errors_replay")[H100] === 0);
  await referee.say("set 0 nvlink_replay.0 3\nset 0 nvlink_crc_flit.17 11");
  const published = await poller.until((published) =>
    valuesOf(published, "gpu_nvlink_errors_crc")[H100] === 6
  );
  // One of 32 bits that has wrapped.
  assert.equal(valuesOf(published, "gpu_nvlink_errors_replay")[H100], 9);
  assert.equal(valuesOf(published, "gpu_nvlink_active_links")[H100], 17);
});

const REFUSED: [says: string, script: string, reason: RegExp][] = [
  ["no node is permitted", `${H100_ALONE}\ndeny 0`, /no permission: .* \/dev\/nvidia/],
  ["NVML is not permitted", `${H100_ALONE}\nfail * nvmlInit_v2 4`, /no permission: /],
  ["no device says which it is", `${H100_ALONE}\nfail 0 nvmlDeviceGetUUID 999`, /error 999/],
  ["all are lost", `${H100_ALONE}\nlost 0`, /fallen off the bus/],
  ["there is none", "", /no NVIDIA device/],
  ["versions differ", `${H100_ALONE}\ndown 18`, /different versions/],
];
for (const [says, script, reason] of REFUSED) {
  test(`the reason is plain where ${says}`, async () => {
    await using referee = await openReferee(script);
    const poller = await referee.poll();
    const published = await poller.until(({ state }) => state !== "starting");
    assert.equal(published.state, "refused");
    assert.match(published.reason, reason);
    assert((await poller.stop()).status.success);
  });
}

test("a device that is lost before the run is told, one that is not permitted is not", async () => {
  await using referee = await openReferee(`${ZOO}
    lost 3
    deny 5`);
  const poller = await referee.poll();
  const { state, reason } = await poller.until(polled(7));
  assert.equal(state, "capturing");
  assert.equal(reason, "device 3 is not measured: the device has fallen off the bus");
});

test("polls go on when the clock is set back", async () => {
  await using referee = await openReferee(H100_ALONE);
  const back = `${referee.directory}/back`;
  const poller = await referee.poll({ ...faster(10), CLOCK_BACK: back });
  const polls = async () => callsOf(await referee.ledger(), "nvmlDeviceGetPowerUsage").length;
  await poller.until(polled(1, 2));
  await Deno.writeTextFile(back, "");
  const before = await polls();
  while (await polls() < before + 3) await poller.until(() => true);
});

test("10,000 polls take no more memory than 1,000", async () => {
  await using referee = await openReferee(`
    device h100 0000:1b:00.0
    device l4 0000:2b:00.0
    set 0 energy 0 1000000
  `);
  const poller = await referee.poll({ ...faster(1_000), NVML_STRICT_LEDGER: "" });
  const seconds = (published: Published) => valuesOf(published, "gpu_energy_joules")[H100]! / 1_000;
  const resident = async (polls: number) => {
    await poller.until((published) => seconds(published) >= polls);
    const statm = await Deno.readTextFile(`/proc/${poller.started.process.pid}/statm`);
    return Number(statm.split(" ")[1]);
  };
  const before = await resident(1_000);
  assert(await resident(10_000) - before <= 16, "pages");
});
