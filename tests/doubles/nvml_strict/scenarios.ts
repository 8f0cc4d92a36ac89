/** Machines in good and in bad order, and what the document of a run must say of each. */

import assert from "node:assert/strict";
import type { Signals } from "@service/core";
import type { Run } from "../../stack.ts";
import type { Driver } from "./build.ts";
import { byDevice, type Referee, uuidOf } from "./harness.ts";

/** UUID of the first GPU of most machines. */
export const FIRST = uuidOf(0, 0x1b00);
/** The second one. */
export const SECOND = uuidOf(1, 0x2b00);
const THIRD = uuidOf(2, 0x3b00);

/** A run in progress. */
export interface Scene {
  referee: Referee;
  run: Run;
  /** The document, as soon as `condition` holds for it. */
  sees(condition: (payload: Signals) => boolean): Promise<Signals>;
}

/** A machine, and what the document must say of it. */
export interface Scenario {
  says: string;
  driver?: Driver;
  script: string;
  /** While the workload runs. */
  during(scene: Scene): Promise<void>;
  /** The last snapshot. */
  document?(payload: Signals): void;
}

/** The value of a device's metric. */
export function gauge(payload: Signals, name: string, uuid: string): number | undefined {
  return byDevice(payload, name)[uuid];
}

/** Messages of the entries in `errors`. */
export function messages({ errors }: Signals): string[] {
  return errors.map(({ message }) => message);
}

/** Attributes of a device. */
function attributes({ resources }: Signals, uuid: string): Record<string, string> {
  const found = resources.find(({ kind, tags }) =>
    kind === "device" && tags["device.uuid"] === uuid
  );
  return (found?.attributes ?? {}) as Record<string, string>;
}

/** What a busy H100 says. */
const BUSY = `
  device h100 0000:1b:00.0
  set 0 utilization 97
  set 0 memory_utilization 41
  set 0 memory_used 68719476736
  set 0 temperature 64
  set 0 memory_temperature 71
  set 0 power 612345
  set 0 power_instant 612345
  set 0 energy 4000000000 612345
  set 0 sm_clock 1755
  set 0 throttle 0x4
  set 0 policy_power 77000000000 500000000
  set 0 pcie_generation 3
  set 0 pcie_width 8
  set 0 nvlink_data_tx.0 1000 2048
  set 0 nvlink_data_tx.17 5000 2048
  set 0 ecc_corrected_volatile 3
  set 0 ecc_uncorrected_aggregate 9
  set 0 remapped_pending 1
  gpm 0 2 88.5
  gpm 0 3 41.25
  gpm 0 5 62
  gpm 0 10 73.5
  gpm 0 12 18
  gpm 0 20 1000
  gpm 0 21 500
`;

/** The machines. */
export const SCENARIOS: readonly Scenario[] = [
  {
    says: "a busy device has every value, exact in its unit",
    script: BUSY,
    async during({ sees }) {
      await sees((payload) => gauge(payload, "gpu_energy_joules", FIRST)! > 1500);
    },
    document(payload) {
      const due: Record<string, number> = {
        gpu_utilization_percent: 97,
        gpu_memory_utilization_percent: 41,
        gpu_memory_used_bytes: 68719476736,
        gpu_memory_reserved_bytes: 560988160,
        gpu_memory_total_bytes: 85520809984,
        gpu_memory_free_bytes: 85520809984 - 560988160 - 68719476736,
        gpu_temperature_celsius: 64,
        gpu_memory_temperature_celsius: 71,
        gpu_power_usage_watts: 612.345,
        gpu_power_management_limit_watts: 700,
        gpu_clock_sm_megahertz: 1755,
        gpu_max_clock_sm_megahertz: 1980,
        gpu_clock_mem_megahertz: 2619,
        gpu_clocks_throttle_reasons: 4,
        gpu_performance_state: 0,
        gpu_pcie_link_generation: 3,
        gpu_pcie_link_width: 8,
        gpu_pcie_max_link_generation: 5,
        gpu_pcie_max_link_width: 16,
        gpu_pcie_throughput_tx_kilobytes_per_second: 1_048_576,
        gpu_pcie_throughput_rx_kilobytes_per_second: 524_288,
        gpu_nvlink_link_count: 18,
        gpu_nvlink_active_links: 18,
        gpu_sm_utilization_percent: 88.5,
        gpu_sm_occupancy_percent: 41.25,
        gpu_tensor_utilization_percent: 62,
        gpu_dram_bandwidth_utilization_percent: 73.5,
        gpu_fp64_utilization_percent: 0,
        gpu_fp32_utilization_percent: 18,
        gpu_fp16_utilization_percent: 0,
        gpu_ecc_errors_corrected_volatile: 0,
        gpu_ecc_errors_uncorrected_aggregate: 0,
        gpu_pcie_replay_counter: 0,
        gpu_xid_critical_errors: 0,
        gpu_nvlink_errors_replay: 0,
        gpu_remapped_rows_pending: 1,
      };
      const found = Object.fromEntries(
        Object.keys(due).map((name) => [name, gauge(payload, name, FIRST)]),
      );
      // GPM's are averages over time.
      for (const [name, value] of Object.entries(due)) {
        assert(Math.abs(found[name]! - value) <= value * 1e-6, `${name}: ${found[name]}`);
      }
      // The same time stands behind each of these; the polls of a device take a while.
      const seconds = gauge(payload, "gpu_energy_joules", FIRST)! / 612.345;
      const close = (value: number, of: number) => Math.abs(value / of - 1) < 0.1;
      assert(seconds > 1.5, `${seconds} s`);
      const links = gauge(payload, "gpu_nvlink_throughput_data_tx_kibibytes", FIRST)!;
      assert(close(links, seconds * 4096), `${links} KiB in ${seconds} s`);
      const capped = payload.metrics.find(({ name, tags }) =>
        name === "gpu_throttled_nanoseconds" && tags["reason"] === "sw_power_cap"
      );
      assert(capped?.type === "counter" && close(Number(capped.stats.total), seconds * 5e8));
      const distribution = payload.metrics.find(({ name }) =>
        name === "gpu_sm_utilization_percent_distribution"
      );
      assert(distribution?.type === "histogram" && Number(distribution.stats.count) >= 2);
      const told = attributes(payload, FIRST);
      const name = { "device.name": "NVIDIA H100 80GB HBM3", "device.compute_capability": "9.0" };
      const sizes = {
        "device.architecture": "Hopper",
        "device.multiprocessor_count": "132",
        "device.memory_bus_width_bits": "5120",
        "device.memory_total_bytes": "85520809984",
        "device.nvlink_count": "18",
        "device.driver_version": "580.126.09",
        "device.cuda_version": "13.0",
        "device.mig_mode": "disabled",
      };
      for (const [key, value] of Object.entries({ ...name, ...sizes })) {
        assert.equal(told[key], value, key);
      }
      assert.deepEqual(messages(payload), []);
    },
  },
  {
    says: "an idle device has zeros, and its refusals are told once",
    driver: 470,
    script: `device gtx1080 0000:1b:00.0
      device a100 0000:2b:00.0
      set 0 power 4294967295`,
    async during({ sees }) {
      await sees((payload) => gauge(payload, "gpu_utilization_percent", SECOND) === 0);
    },
    document(payload) {
      assert.equal(gauge(payload, "gpu_utilization_percent", FIRST), 0);
      assert.equal(gauge(payload, "gpu_energy_joules", SECOND), 0);
      const links = "gpu_nvlink_active_links";
      for (const name of ["gpu_energy_joules", "gpu_memory_temperature_celsius", links]) {
        assert.equal(gauge(payload, name, FIRST), undefined, name);
      }
      for (const name of ["gpu_sm_utilization_percent", "gpu_memory_reserved_bytes"]) {
        assert.equal(gauge(payload, name, SECOND), undefined, name);
      }
      assert(gauge(payload, "profiler_unsupported_metrics", SECOND)! > 0);
      const told = attributes(payload, FIRST)["profiler.unsupported_metrics"]!;
      assert.match(told, /gpu_energy_joules: not supported/);
      const older = attributes(payload, SECOND)["profiler.unsupported_metrics"]!;
      assert.match(older, /gpu_nvlink_errors_replay: unknown to this driver/);
      // -1 says that there is no value.
      assert.match(told, /gpu_power_usage_watts: no data/);
      assert.deepEqual(messages(payload), []);
    },
  },
  {
    says: "a driver that is loaded again lets no counter fall, and counts on",
    script: `device h100 0000:1b:00.0
      set 0 energy 9000000`,
    async during({ referee, sees }) {
      await sees((payload) => gauge(payload, "gpu_energy_joules", FIRST) === 0);
      await referee.say("set 0 energy 9005000\nset 0 pcie_replay 4000000000");
      await sees((payload) => gauge(payload, "gpu_energy_joules", FIRST) === 5);
      await referee.say("down 9");
      await sees((payload) =>
        gauge(payload, "gpu_power_usage_watts", FIRST) === undefined ||
        messages(payload).some((message) => message.includes(FIRST))
      );
      await referee.say("up");
      await sees((payload) => messages(payload).some((text) => text.includes("values again")));
      await referee.say("set 0 energy 7000\nset 0 pcie_replay 2");
      await sees((payload) => gauge(payload, "gpu_energy_joules", FIRST)! > 5);
    },
    document(payload) {
      const joules = gauge(payload, "gpu_energy_joules", FIRST)!;
      assert(joules >= 5 && joules <= 12, `${joules}`);
      const replays = gauge(payload, "gpu_pcie_replay_counter", FIRST)!;
      assert(replays <= 4_000_000_002, `${replays}`);
    },
  },
  {
    says:
      "a device that falls off the bus takes no other with it, and is not asked a thousand times",
    script: `device h100 0000:1b:00.0
      device h100 0000:2b:00.0
      device h100 0000:3b:00.0
      set * power 100000`,
    async during({ referee, sees }) {
      await sees((payload) => gauge(payload, "gpu_power_usage_watts", THIRD) === 100);
      await referee.say("unplug 1\nset 2 power 300000");
      await sees((payload) => messages(payload).some((text) => text.includes(SECOND)));
      await sees((payload) => gauge(payload, "gpu_power_usage_watts", THIRD) === 300);
    },
    document(payload) {
      assert.equal(gauge(payload, "gpu_power_usage_watts", FIRST), 100);
      assert.equal(gauge(payload, "gpu_power_usage_watts", THIRD), 300);
      const [told, ...more] = messages(payload).filter((text) => text.includes(SECOND));
      assert.match(told!, /off the bus/);
      assert.deepEqual(more, []);
    },
  },
  {
    says: "a call that hangs is named, the document goes on, and the exit does not wait",
    script: `device h100 0000:1b:00.0
      device h100 0000:2b:00.0`,
    async during({ referee, sees }) {
      await sees((payload) => gauge(payload, "gpu_utilization_percent", SECOND) === 0);
      await referee.say("hang 1 nvmlDeviceGetPowerUsage");
      const before = await sees((payload) =>
        messages(payload).some((text) => text.includes("nvmlDeviceGetPowerUsage"))
      );
      await sees(({ payload_ns }) => payload_ns > before.payload_ns);
    },
    document(payload) {
      const told = messages(payload).filter((text) => text.includes("nvmlDeviceGetPowerUsage"));
      assert.equal(told.length, 1, told.join("\n"));
      assert.match(told[0]!, new RegExp(SECOND));
    },
  },
  {
    says: "a storm of XIDs is counted, named once each, and no wait spins",
    script: `device h100 0000:1b:00.0
      early 1000`,
    async during({ referee, sees }) {
      await sees((payload) => gauge(payload, "gpu_xid_critical_errors", FIRST) === 0);
      await referee.say(`${"xid 0 31\n".repeat(25)}xid 0 79\nxid 0 4000000000\nxid 0 999`);
      await sees((payload) => gauge(payload, "gpu_xid_critical_errors", FIRST) === 28);
    },
    document(payload) {
      const told = messages(payload).filter((text) => text.includes("XID"));
      assert.equal(told.length, 4, told.join("\n"));
      assert(told.some((text) => /XID 31 .*25 times/.test(text)), told.join("\n"));
    },
  },
  {
    says: "MIG devices are devices of their own, and go when they are gone",
    script: `device h100 0000:1b:00.0
      device h100 0000:2b:00.0
      mig 0 9 0 9856 16 NVIDIA H100 80GB HBM3 MIG 1g.10gb
      mig 0 2 0 40192 60 NVIDIA H100 80GB HBM3 MIG 3g.40gb
      set 0/0 memory_used 1048576
      gpm 0/0 2 12.5
      gpm 0/1 2 50`,
    async during({ referee, sees }) {
      const payload = await sees((payload) =>
        Object.values(byDevice(payload, "gpu_sm_utilization_percent")).includes(12.5)
      );
      const values = byDevice(payload, "gpu_sm_utilization_percent");
      const small = Object.keys(values).find((uuid) => values[uuid] === 12.5)!;
      const large = Object.keys(values).find((uuid) => values[uuid] === 50)!;
      assert.match(small, /^MIG-/);
      assert.equal(gauge(payload, "gpu_memory_used_bytes", small), 1048576);
      assert.equal(gauge(payload, "gpu_memory_total_bytes", large), 40192 * 2 ** 20);
      assert.equal(gauge(payload, "gpu_utilization_percent", FIRST), undefined);
      assert.equal(gauge(payload, "gpu_power_usage_watts", FIRST), 70);
      assert.equal(gauge(payload, "gpu_sm_utilization_percent", SECOND), 0);
      assert.equal(attributes(payload, small)["device.parent_uuid"], FIRST);
      assert.equal(attributes(payload, small)["device.multiprocessor_count"], "16");
      await referee.say("unmig 0\nmig 0 5 0 9856 16 NVIDIA H100 80GB HBM3 MIG 1g.10gb");
      await sees((payload) => {
        const now = byDevice(payload, "gpu_memory_used_bytes");
        return Object.keys(now).some((uuid) => uuid.startsWith("MIG-") && !(uuid in values));
      });
    },
  },
  {
    says: "names of any bytes, devices in any order, and a node that is not permitted",
    script: `device l4 0000:9b:00.0
      device h100 0000:1b:00.0
      device a100 0001:01:00.0
      name 0 A "quoted", \\back\\ name\x09with \xff\xfe and <b>
      deny 2
      set 1 memory_utilization 7`,
    async during({ sees }) {
      await sees((payload) =>
        gauge(payload, "gpu_memory_utilization_percent", uuidOf(1, 0x1b00)) === 7
      );
    },
    document(payload) {
      const l4 = uuidOf(0, 0x9b00);
      assert.equal(gauge(payload, "gpu_utilization_percent", l4), 0);
      assert.match(attributes(payload, l4)["device.name"]!, /^A "quoted", .*<b>$/);
      assert.equal(Object.keys(byDevice(payload, "gpu_power_usage_watts")).length, 2);
    },
  },
];
