/** Scenarios of values: all of them, exact, and from drivers that tell them in other ways. */

import assert from "node:assert/strict";
import { openBench, type Scenario, valuesOf } from "./harness.ts";
import { FAKE_GPM, FIRST, first, gpu, isMeasured, polls, refusals, throttled } from "./readings.ts";

/** The scenarios by their names. */
export const VALUE_SCENARIOS: Record<string, Scenario> = {
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
    const after = await poller.until((published) =>
      first(published, "gpu_energy_joules") !== 0 &&
      first(published, "gpu_nvlink_throughput_data_tx_kibibytes") !== 0 &&
      first(published, "gpu_ecc_errors_corrected_volatile") !== 0
    );
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
    await poller.until((published) => first(published, "gpu_pcie_replay_counter") !== 0);
    const wrapped = await polls(poller, 2);
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
    await using bench = await openBench("set 0 reasons 96", { ...options, speed: 1 });
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
    const after = await poller.until((published) =>
      [0, 1, 2].every((i) => valuesOf(published, traffic)[gpu(i)] !== 0)
    );
    assert.deepEqual(valuesOf(after, traffic), {
      [gpu(0)]: 18_000,
      [gpu(1)]: 18_000,
      [gpu(2)]: 18_000,
    });
    assert.equal(valuesOf(after, "gpu_nvlink_active_links")[gpu(1)], 18);
    const later = await poller.until((published) =>
      [0, 3].every((i) => valuesOf(published, "gpu_nvlink_errors_replay")[gpu(i)] !== 0) &&
      valuesOf(published, "gpu_nvlink_errors_recovery")[gpu(2)] !== 0
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
