/** Scenarios of change and trouble: devices that come, hang, vanish, or are polled by others. */

import assert from "node:assert/strict";
import { openBench, type Scenario, valuesOf } from "./harness.ts";
import {
  FAKE_GPM,
  FIRST,
  first,
  gpu,
  isMeasured,
  mig,
  polls,
  refusals,
  SECOND,
} from "./readings.ts";

/** The scenarios by their names. */
export const TROUBLE_SCENARIOS: Record<string, Scenario> = {
  async "MIG devices are devices of their own, also those made later"(options) {
    await using bench = await openBench(`set 0 mig 2\n${FAKE_GPM}\nxid 0 43 2 7`, options);
    const poller = await bench.poll();
    const whole = gpu(0);
    const [one, two, three] = [mig(0, 0), mig(0, 1), mig(0, 2)];
    const published = await poller.until(isMeasured("gpu_dram_bandwidth_utilization_percent", two));
    const devices = published.readings.filter(({ name }) => name === "device");
    assert.deepEqual(devices.map(({ tags }) => tags["device.uuid"]).sort(), [whole, one, two]);
    const part = devices.find(({ tags }) => tags["device.uuid"] === two)?.tags;
    assert.equal(part?.["device.parent_uuid"], whole);
    assert.equal(part?.["device.gpu_instance"], "8");
    assert.equal(part?.["device.bus_id"], "00000000:1B:00.0");
    assert.equal(part?.["device.multiprocessor_count"], "16");
    assert.equal(valuesOf(published, "gpu_memory_total_bytes")[one], 85_520_809_984 / 8);
    assert.equal(valuesOf(published, "gpu_power_usage_watts")[one], undefined);
    assert.equal(refusals(published).gpu_utilization_percent, "not supported");
    const counted = await poller.until((published) =>
      valuesOf(published, "gpu_xid_critical_errors")[one] === 2
    );
    assert.equal(first(counted, "gpu_xid_critical_errors"), 0);
    await bench.script(`set 0 mig 3\n${FAKE_GPM}`);
    await poller.until(isMeasured("gpu_sm_utilization_percent", three));
    await bench.script(`set 0 mig 1\n${FAKE_GPM}`);
    await poller.until((published) =>
      valuesOf(published, "lost")[two] === 1 &&
      valuesOf(published, "gpu_memory_total_bytes")[two] === undefined &&
      valuesOf(published, "gpu_memory_total_bytes")[one] !== undefined
    );
  },

  async "a call that hangs is named, and the process ends all the same"(options) {
    const hangs = "devices 2\nhang nvmlDeviceGetPowerUsage 1 60";
    await using bench = await openBench(hangs, { ...options, speed: 1 });
    const poller = await bench.poll();
    const hung = await poller.until(({ call }) => call?.name.includes("PowerUsage") ?? false);
    assert.equal(hung.call?.name, `nvmlDeviceGetPowerUsage on ${SECOND}`);
    assert(Math.abs(Number(hung.call?.began_ns) / 1e6 - Date.now()) < 60_000);
    assert.equal(first(hung, "gpu_temperature_celsius"), 31, "the first device is not delayed");
    const before_ms = performance.now();
    const { status, stdout } = await poller.stop();
    assert.equal(status.code, 0, stdout);
    assert(performance.now() - before_ms < 20_000, "the call lasts three times as long");
  },

  async "a device that falls off the bus is lost until it answers"(options) {
    await using bench = await openBench("devices 2\nset 0 energy 1000", options);
    const poller = await bench.poll();
    await polls(poller);
    await bench.script("devices 2\nanswer * 0 15\nxid 0 79 1");
    const lost = await poller.until((published) =>
      first(published, "lost") === 1 && first(published, "gpu_xid_critical_errors") !== 0
    );
    const [{ tags } = { tags: {} as Record<string, string> }] = lost.readings.filter(({ name }) =>
      name === "lost"
    );
    assert.equal(tags.reason, "the device has fallen off the bus");
    assert.equal(first(lost, "gpu_temperature_celsius"), undefined);
    assert.equal(first(lost, "gpu_xid_critical_errors"), 1, "it said why");
    assert.equal(valuesOf(lost, "gpu_temperature_celsius")[SECOND], 31);
    assert.deepEqual(refusals(lost), {});
    await bench.script("devices 2\nset 0 energy 9000\nxid 0 79 1");
    const back = await poller.until((published) =>
      isMeasured("gpu_temperature_celsius")(published) &&
      first(published, "gpu_energy_joules") !== 0
    );
    assert.equal(first(back, "lost"), undefined);
    assert.equal(first(back, "gpu_energy_joules"), 8, "its counter went on meanwhile");
  },

  async "after the driver was loaded anew, counters go on"(options) {
    await using bench = await openBench("set 0 energy 900000", options);
    const poller = await bench.poll();
    await polls(poller);
    await bench.script("set 0 energy 901000");
    await poller.until((published) => first(published, "gpu_energy_joules") === 1);
    await bench.script("driver 580.1\nset 0 energy 50\nanswer nvmlInit_v2 - 9");
    const away = await poller.until(({ state }) => state === "interrupted");
    assert.equal(away.reason, "the NVIDIA driver is not loaded");
    assert.equal(first(away, "gpu_temperature_celsius"), undefined);
    await bench.script("driver 580.1\nset 0 energy 50");
    const back = await poller.until((published) =>
      isMeasured("gpu_temperature_celsius")(published) &&
      first(published, "gpu_energy_joules") !== 1
    );
    assert.equal(back.state, "capturing");
    assert.equal(first(back, "gpu_energy_joules"), 1.05, "its counter began at zero meanwhile");
    await bench.script("driver 580.1\nset 0 energy 2050");
    const after = await poller.until((published) => first(published, "gpu_energy_joules") !== 1.05);
    assert.equal(first(after, "gpu_energy_joules"), 3.05);
    const [device] = after.readings.filter(({ name }) => name === "device");
    assert.equal(device?.tags["device.driver_version"], "580.1");
  },

  async "each device is polled by one process, and by the next when that is killed"(options) {
    await using bench = await openBench("devices 2", options);
    const one = await bench.poll();
    await polls(one);
    const two = await bench.poll();
    await two.until(({ state }) => state === "capturing");
    await polls(one, 2);
    const { readings } = await two.until(() => true);
    assert.deepEqual(readings.map(({ name }) => name), ["listed", "listed"]);
    one.started.process.kill("SIGKILL");
    const taken = await polls(two);
    assert.deepEqual(Object.keys(valuesOf(taken, "gpu_temperature_celsius")), [FIRST, SECOND]);
  },

  async "without a driver or a device it is said why"(options) {
    for (
      const [script, reason] of [
        ["answer nvmlInit_v2 - 9", "the NVIDIA driver is not loaded"],
        ["answer nvmlInit_v2 - 18", "the NVIDIA driver and its libraries have different versions"],
        ["answer nvmlInit_v2 - 999", "NVML error 999"],
        [
          "answer nvmlDeviceGetHandleByIndex_v2 - 4",
          "no permission: this user or container may not open /dev/nvidia*",
        ],
        ["devices 0", "no NVIDIA device was found"],
      ] as const
    ) {
      await using bench = await openBench(script, options);
      const poller = await bench.poll();
      const refused = await poller.until(({ state }) => state === "refused");
      assert.equal(refused.reason, reason);
      assert.equal((await poller.stop()).status.code, 0);
    }
    await using bench = await openBench("", { ...options, driver: "libnvidia-ml-missing.so.1" });
    const refused = await (await bench.poll()).until(({ state }) => state === "refused");
    assert.equal(refused.reason, "no NVIDIA driver: there is no libnvidia-ml-missing.so.1");
  },
};
