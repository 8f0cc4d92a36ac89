/** Scenarios of the fake driver, and what the poller must make of each. */

import assert from "node:assert/strict";
import { type Bench, type BenchOptions, openBench, type Published, valuesOf } from "./harness.ts";

/** A scenario; it fails if the poller does not do as it must. */
export type Scenario = (options: BenchOptions) => Promise<void>;

/** UUID of the device with this number. */
const gpu = (index: number) => `GPU-0000000${index}-0000-4000-8000-000000000000`;
const mig = (index: number, number: number) =>
  `MIG-0000000${index}-0000-5000-8000-00000000000${number}`;

const FIRST = gpu(0);
const SECOND = gpu(1);

/** Value of a metric of the first device; `undefined`: not measured at present. */
const first = (published: Published, metric: string) => valuesOf(published, metric)[FIRST];

const isMeasured = (metric: string, uuid = FIRST) => (published: Published) =>
  valuesOf(published, metric)[uuid] !== undefined;

/** Refused metrics of the first device, with the reasons. */
function refusals({ readings }: Published): Record<string, string> {
  const refused = readings.filter(({ name, tags }) =>
    name === "unsupported" && tags["device.uuid"] === FIRST
  );
  return Object.fromEntries(refused.map(({ tags }) => [tags.metric!, tags.reason!]));
}

/** Time for which the first device was throttled, in ns. */
function throttled({ readings }: Published, reason: string): number {
  return readings.find(({ name, tags }) =>
    name === "gpu_throttled_nanoseconds" && tags["device.uuid"] === FIRST && tags.reason === reason
  )?.value ?? NaN;
}

/** Waits until each device that is polled was polled `times` times more. */
async function polls(poller: Awaited<ReturnType<Bench["poll"]>>, times = 1): Promise<Published> {
  const polled = (published: Published) => first(published, "polled") ?? 0;
  let published = await poller.until((published) => polled(published) > 0);
  for (let i = 0; i < times; i++) {
    const before = polled(published);
    published = await poller.until((published) => polled(published) > before);
  }
  return published;
}

const FAKE_GPM = `
  gpm * 2 61500000
  gpm * 3 40250000
  gpm * 5 33000000
  gpm * 10 71000001
  gpm * 11 0
  gpm * 12 4000000
  gpm * 13 1000000
  gpm * 20 1000000000
  gpm * 21 250000000
  gpm * 60 2000000000
  gpm * 61 4000000000
`;

export const SCENARIOS: Record<string, Scenario> = {
  async "each of eight idle devices has all gauges, at zero too"(options) {
    await using bench = await openBench(`devices 8\n${FAKE_GPM}`, options);
    const poller = await bench.poll();
    const published = await poller.until(isMeasured("gpu_fp64_utilization_percent", gpu(7)));
    assert.equal(published.state, "capturing");
    for (const [metric, value] of Object.entries(OF_AN_IDLE_DEVICE)) {
      const expected = Object.fromEntries([0, 1, 2, 3, 4, 5, 6, 7].map((i) => [gpu(i), value]));
      assert.deepEqual(valuesOf(published, metric), expected, metric);
    }
    assert.deepEqual(refusals(published), {});
    const names = new Set(published.readings.map(({ name }) => name));
    const others = [...names].filter((name) => !(name in OF_AN_IDLE_DEVICE)).sort();
    assert.deepEqual(others, ["device", "gpu_throttled_nanoseconds", "listed", "polled"]);
  },

  async "a device is described by what a roofline needs"(options) {
    await using bench = await openBench("set 0 nvlinks 18", options);
    const poller = await bench.poll();
    const published = await polls(poller);
    const [device, ...others] = published.readings.filter(({ name }) => name === "device");
    assert.deepEqual(others, []);
    assert.deepEqual(device?.tags, {
      "device.uuid": FIRST,
      "device.bus_id": "00000000:1B:00.0",
      "device.index": "0",
      "device.name": "NVIDIA H100 80GB HBM3",
      "device.architecture": "Hopper",
      "device.compute_capability": "9.0",
      "device.multiprocessor_count": "132",
      "device.driver_version": "570.124.06",
      "device.cuda_version": "12.8",
      "device.memory_total_bytes": "85520809984",
      "device.memory_bus_width_bits": "5120",
      "device.memory_clock_megahertz": "2619",
      "device.pcie_max_generation": "5",
      "device.pcie_max_width": "16",
      "device.nvlink_count": "18",
      "device.nvlink_megabytes_per_second": "26562",
      "device.default_power_limit_watts": "700",
      "device.power_limit_watts": "700",
      "device.ecc_mode": "enabled",
      "device.persistence_mode": "enabled",
      "device.mig_mode": "disabled",
      "device.compute_mode": "default",
    });
  },

  async "values are exact in their units, and counters count from the first poll"(options) {
    await using bench = await openBench("set 0 power 350125\nset 0 energy 5000000", options);
    const poller = await bench.poll();
    const before = await polls(poller);
    assert.equal(first(before, "gpu_power_usage_watts"), 350.125);
    assert.equal(first(before, "gpu_energy_joules"), 0);
    await bench.script("set 0 energy 5000750\nfield 0 138 1024\nfield 0 3 2");
    const after = await poller.until((published) => first(published, "gpu_energy_joules") !== 0);
    assert.equal(first(after, "gpu_energy_joules"), 0.75);
    assert.equal(first(after, "gpu_nvlink_throughput_data_tx_kibibytes"), 18 * 1024);
    assert.equal(first(after, "gpu_ecc_errors_corrected_volatile"), 2);
  },

  async "counters of 32 bits go on after a wrap, and none ever falls"(options) {
    const script = (replays: number, energy: number, errors: number) =>
      `type 3 1\nset 0 replays ${replays}\nset 0 energy ${energy}\nfield 0 3 ${errors}`;
    await using bench = await openBench(script(2 ** 32 - 5, 9_000, 2 ** 32 - 1), options);
    const poller = await bench.poll();
    await polls(poller);
    await bench.script(script(7, 1_000, 1));
    const wrapped = await poller.until((published) =>
      first(published, "gpu_pcie_replay_counter") !== 0
    );
    assert.equal(first(wrapped, "gpu_pcie_replay_counter"), 12);
    assert.equal(first(wrapped, "gpu_ecc_errors_corrected_volatile"), 2);
    assert.equal(first(wrapped, "gpu_energy_joules"), 0, "it began anew, at an unknown value");
    await bench.script(script(3, 1_500, 1));
    const reset = await poller.until((published) => first(published, "gpu_energy_joules") !== 0);
    assert.equal(first(reset, "gpu_energy_joules"), 0.5);
    assert.equal(first(reset, "gpu_pcie_replay_counter"), 12, "it was reset");
  },

  async "power and heat are told apart, as shares of the time"(options) {
    const counted = (power: number, heat: number) => `field 0 74 ${power}\nfield 0 270 ${heat}`;
    await using bench = await openBench(`cuda 13000\nset 0 reasons 4\n${counted(1e6, 5)}`, options);
    const poller = await bench.poll();
    const capped = await polls(poller);
    assert.equal(first(capped, "gpu_clocks_throttle_reasons"), 4);
    assert.equal(throttled(capped, "sw_power_cap"), 0, "the device counts this one itself");
    await bench.script(`cuda 13000\nset 0 reasons 64\n${counted(251e6, 7)}`);
    const hot = await poller.until((published) => throttled(published, "sw_power_cap") > 0);
    assert.equal(throttled(hot, "sw_power_cap"), 250_000_000);
    assert.equal(throttled(hot, "hw_thermal_slowdown"), 2);
    assert.equal(throttled(hot, "gpu_idle"), 0);
  },

  async "a reason that the driver does not count is timed by its bit"(options) {
    // Under these numbers, drivers before CUDA 13 have other fields.
    const fields = "field 0 269 90000000000000\nfield 0 270 90000000000000";
    await using bench = await openBench("set 0 reasons 96", options);
    const poller = await bench.poll();
    const before = await polls(poller);
    await bench.script(`set 0 reasons 96\n${fields}`);
    const after = await polls(poller, 2);
    for (const reason of ["sw_thermal_slowdown", "hw_thermal_slowdown"]) {
      const seconds = (throttled(after, reason) - throttled(before, reason)) / 1e9;
      assert(seconds > 1 && seconds < 5, `${reason} held for ${seconds} s of two polls`);
    }
    assert.equal(throttled(after, "gpu_idle"), 0);
  },

  async "what a device refuses is absent, said with the reason, and asked once"(options) {
    await using bench = await openBench(
      `
        set 0 gpm 0
        set 0 nvlinks 0
        answer nvmlDeviceGetFanSpeed 0 3
        answer nvmlDeviceGetPcieReplayCounter 0 4
        answer nvmlDeviceGetPerformanceState 0 999
        refuse_field 0 82 3
        refuse_field 0 91 3
      `,
      options,
    );
    const poller = await bench.poll();
    const published = await polls(poller, 3);
    const refused = refusals(published);
    assert.equal(refused.gpu_fan_speed_percent, "not supported");
    assert.equal(refused.gpu_pcie_replay_counter, "no permission");
    assert.equal(refused.gpu_performance_state, "NVML error 999");
    assert.equal(refused.gpu_memory_temperature_celsius, "not supported");
    assert.equal(refused.gpu_sm_utilization_percent, "not supported");
    assert.equal(refused.gpu_nvlink_link_count, "not supported");
    for (const metric of Object.keys(refused)) assert.equal(first(published, metric), undefined);
    assert.equal(first(published, "gpu_temperature_celsius"), 31);
    const calls = await bench.calls();
    const times = (name: string) => calls.filter((call) => call.startsWith(`${name} `)).length;
    assert.equal(times("nvmlDeviceGetFanSpeed"), 1);
    assert.equal(times("nvmlDeviceGetPcieReplayCounter"), 1);
    assert.equal(times("nvmlGpmQueryDeviceSupport"), 1);
    assert(times("nvmlDeviceGetPerformanceState") > 2, "that may pass");
    assert.deepEqual(calls.filter((call) => /Process/.test(call)), []);
    await bench.script("set 0 gpm 0\nset 0 nvlinks 0\nset 0 performance_state 8");
    const passed = await poller.until(isMeasured("gpu_performance_state"));
    assert.equal(first(passed, "gpu_performance_state"), 8);
    assert.equal(refusals(passed).gpu_performance_state, undefined);
  },

  async "an old driver lacks functions, and the rest is measured"(options) {
    const lacking = [
      ...["nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetCurrentClocksEventReasons"],
      ...[
        "nvmlGpmQueryDeviceSupport",
        "nvmlGpmSampleGet",
        "nvmlGpmMetricsGet",
        "nvmlGpmSampleAlloc",
      ],
      ...["nvmlDeviceGetMigMode", "nvmlDeviceGetTotalEnergyConsumption", "nvmlEventSetWait_v2"],
    ];
    await using bench = await openBench("set 0 memory_used 1000000", { ...options, lacking });
    const poller = await bench.poll();
    const published = await polls(poller, 2);
    const unknown = "unknown to this driver";
    assert.equal(first(published, "gpu_memory_used_bytes"), 656_360_000, "what is reserved too");
    assert.equal(first(published, "gpu_clocks_throttle_reasons"), 1);
    assert.equal(refusals(published).gpu_memory_reserved_bytes, unknown);
    assert.equal(refusals(published).gpu_energy_joules, unknown);
    assert.equal(refusals(published).gpu_dram_bandwidth_utilization_percent, unknown);
    assert.equal(refusals(published).gpu_xid_critical_errors, unknown);
  },

  async "traffic is that of all 18 links, however the driver counts it"(options) {
    const refuse = (device: number, ...ids: number[]) =>
      ids.map((id) => `refuse_field ${device} ${id} 3\n`).join("");
    const script = (kibibytes: number) => `
      devices 4
      set 1 nvlink_sums 0
      ${refuse(2, 138, 139, 140, 141, 161, 162, 163)}
      ${refuse(3, 138, 139, 140, 141, 202, 204)}
      field * 138 ${kibibytes}
      field * 202 ${kibibytes * 1024 + 512}
      field * 161 ${kibibytes}
      field * 215 ${kibibytes}
    `;
    await using bench = await openBench(script(0), options);
    const poller = await bench.poll();
    const traffic = "gpu_nvlink_throughput_data_tx_kibibytes";
    const before = await poller.until(isMeasured(traffic, gpu(2)));
    assert.deepEqual(valuesOf(before, traffic), { [gpu(0)]: 0, [gpu(1)]: 0, [gpu(2)]: 0 });
    await bench.script(script(1000));
    const after = await poller.until((published) => valuesOf(published, traffic)[gpu(2)] !== 0);
    assert.deepEqual(valuesOf(after, traffic), {
      [gpu(0)]: 18_000,
      [gpu(1)]: 18_000,
      [gpu(2)]: 18_000,
    });
    assert.equal(valuesOf(after, "gpu_nvlink_active_links")[gpu(1)], 18);
    const later = await poller.until((published) =>
      valuesOf(published, "gpu_nvlink_errors_replay")[gpu(3)] !== 0
    );
    assert.equal(first(later, "gpu_nvlink_errors_replay"), 18_000);
    assert.equal(first(later, "gpu_nvlink_errors_recovery"), 0);
    const recovery = valuesOf(later, "gpu_nvlink_errors_recovery")[gpu(2)];
    assert.equal(recovery, 18_000, "what a Blackwell device counts");
  },

  async "PCIe throughput is watched of one device a second, if nothing else tells it"(options) {
    const without = `
      devices 3
      set * gpm 0
      set * pcie_tx 12000
      set * pcie_rx 34
    `;
    await using bench = await openBench(without, options);
    const poller = await bench.poll();
    const published = await poller.until((published) =>
      [0, 1, 2].every((i) =>
        isMeasured("gpu_pcie_throughput_rx_kilobytes_per_second", gpu(i))(published)
      )
    );
    assert.equal(first(published, "gpu_pcie_throughput_tx_kilobytes_per_second"), 12_000);
    assert.equal(first(published, "gpu_pcie_throughput_rx_kilobytes_per_second"), 34);
    const calls = await bench.calls();
    const watched = calls.filter((call) => call.startsWith("nvmlDeviceGetPcieThroughput"));
    const seconds = calls.filter((call) => call === "nvmlDeviceGetPowerUsage 0").length;
    assert(watched.length <= 2 * seconds, `${watched.length} times in ${seconds} polls`);
  },

  async "each XID is counted under its number, in a storm too"(options) {
    await using bench = await openBench("xid 0 48 0\nxid 0 94 0", options);
    const poller = await bench.poll();
    assert.equal(first(await polls(poller), "gpu_xid_critical_errors"), 0);
    await bench.script("xid 0 48 20000\nxid 0 94 3");
    const stormy = await poller.until((published) =>
      first(published, "gpu_xid_critical_errors") === 20_003
    );
    const events = stormy.readings.filter(({ name }) => name === "xid");
    assert.deepEqual(events.map(({ tags, value }) => [tags.xid, value]), [["48", 20_000], [
      "94",
      3,
    ]]);
  },

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
    await using bench = await openBench("devices 2\nhang nvmlDeviceGetPowerUsage 1 60", options);
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
    const lost = await poller.until((published) => first(published, "lost") === 1);
    const [{ tags } = { tags: {} as Record<string, string> }] = lost.readings.filter(({ name }) =>
      name === "lost"
    );
    assert.equal(tags.reason, "the device has fallen off the bus");
    assert.equal(first(lost, "gpu_temperature_celsius"), undefined);
    assert.equal(first(lost, "gpu_xid_critical_errors"), 1, "it said why");
    assert.equal(valuesOf(lost, "gpu_temperature_celsius")[SECOND], 31);
    assert.deepEqual(refusals(lost), {});
    await bench.script("devices 2\nset 0 energy 9000\nxid 0 79 1");
    const back = await poller.until(isMeasured("gpu_temperature_celsius"));
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
    const back = await poller.until(isMeasured("gpu_temperature_celsius"));
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

/** What an idle device has, by the defaults of the fake driver and {@linkcode FAKE_GPM}. */
const OF_AN_IDLE_DEVICE: Record<string, number> = {
  gpu_utilization_percent: 0,
  gpu_memory_utilization_percent: 0,
  gpu_memory_total_bytes: 85_520_809_984,
  gpu_memory_reserved_bytes: 655_360_000,
  gpu_memory_used_bytes: 0,
  gpu_memory_free_bytes: 84_865_449_984,
  gpu_temperature_celsius: 31,
  gpu_memory_temperature_celsius: 40,
  gpu_power_usage_watts: 71.25,
  gpu_power_management_limit_watts: 700,
  gpu_energy_joules: 0,
  gpu_fan_speed_percent: 30,
  gpu_clock_sm_megahertz: 345,
  gpu_clock_mem_megahertz: 2619,
  gpu_max_clock_sm_megahertz: 1980,
  gpu_clocks_throttle_reasons: 1,
  gpu_performance_state: 0,
  gpu_pcie_link_generation: 5,
  gpu_pcie_link_width: 16,
  gpu_pcie_max_link_generation: 5,
  gpu_pcie_max_link_width: 16,
  gpu_pcie_throughput_tx_kilobytes_per_second: 1_048_576,
  gpu_pcie_throughput_rx_kilobytes_per_second: 262_144,
  gpu_pcie_replay_counter: 0,
  gpu_nvlink_link_count: 18,
  gpu_nvlink_active_links: 18,
  gpu_nvlink_throughput_data_tx_kibibytes: 0,
  gpu_nvlink_throughput_data_rx_kibibytes: 0,
  gpu_nvlink_throughput_raw_tx_kibibytes: 0,
  gpu_nvlink_throughput_raw_rx_kibibytes: 0,
  gpu_nvlink_throughput_tx_kilobytes_per_second: 4_194_304,
  gpu_nvlink_throughput_rx_kilobytes_per_second: 2_097_152,
  gpu_nvlink_errors_replay: 0,
  gpu_nvlink_errors_recovery: 0,
  gpu_nvlink_errors_crc: 0,
  gpu_ecc_errors_corrected_volatile: 0,
  gpu_ecc_errors_uncorrected_volatile: 0,
  gpu_ecc_errors_corrected_aggregate: 0,
  gpu_ecc_errors_uncorrected_aggregate: 0,
  gpu_remapped_rows_correctable: 0,
  gpu_remapped_rows_uncorrectable: 0,
  gpu_remapped_rows_pending: 0,
  gpu_remapped_rows_failure: 0,
  gpu_retired_pages_single_bit: 0,
  gpu_retired_pages_double_bit: 0,
  gpu_retired_pages_pending: 0,
  gpu_xid_critical_errors: 0,
  gpu_sm_utilization_percent: 61.5,
  gpu_sm_occupancy_percent: 40.25,
  gpu_tensor_utilization_percent: 33,
  gpu_dram_bandwidth_utilization_percent: 71.000001,
  gpu_fp64_utilization_percent: 0,
  gpu_fp32_utilization_percent: 4,
  gpu_fp16_utilization_percent: 1,
};
