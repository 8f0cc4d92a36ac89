/** Sample data of a training job on eight GPUs: devices with kernels, copies and telemetry, ranks, and a host. */

import { emptyWindow, resourceKey, type Series, seriesKey, type Window } from "@service/core";
import { SECOND_NS, tsFromNs } from "@service/core/time";
import { START_TS, WINDOW_S } from "./storage_data.ts";

const DEVICES = 8;
/** Kernels of a device, as in eager training. */
const KERNELS = 300;
/** Processes beside the ranks: loaders and helpers. */
const HELPERS = 40;

const GAUGES = [
  ...["gpu_utilization_percent", "gpu_memory_used_bytes", "gpu_memory_total_bytes"],
  ...["gpu_power_usage_watts", "gpu_power_management_limit_watts", "gpu_temperature_celsius"],
  ...["gpu_clock_sm_megahertz", "gpu_max_clock_sm_megahertz", "gpu_pcie_link_generation"],
  ...["gpu_pcie_link_width", "gpu_sm_utilization_percent", "gpu_tensor_utilization_percent"],
  ...["gpu_dram_bandwidth_utilization_percent", "gpu_nvlink_active_links", "gpu_fan_speed_percent"],
] as const;

const COUNTERS = [
  ...["gpu_nvlink_transmit_bytes", "gpu_nvlink_receive_bytes", "gpu_pcie_transmit_bytes"],
  ...["gpu_pcie_receive_bytes", "gpu_pcie_replays_total", "gpu_energy_joules"],
] as const;

const PROCESS_COUNTERS = [
  ...["process_user_cpu_seconds", "process_system_cpu_seconds"],
  ...["process_context_switches_voluntary_total", "process_context_switches_involuntary_total"],
  ...["process_storage_read_bytes", "process_storage_write_bytes"],
] as const;

/** Window number `at` of the job, of ten seconds unless `seconds` says another length. */
export function jobWindow(at: number, seconds: number = WINDOW_S): Window {
  const window = emptyWindow(BigInt(START_TS + at * seconds) * SECOND_NS);
  window.to_ns = window.from_ns + BigInt(seconds) * SECOND_NS;
  const updated_ns = window.to_ns;
  const add = (name: string, tags: Record<string, string>, rest: Rest) => {
    const series = { name, tags, updated_ns, ...rest } as Series;
    window.series.set(seriesKey(series), series);
  };
  const seen = { first_seen_ts: START_TS, last_seen_ts: tsFromNs(updated_ns) };
  const describe = (
    kind: string,
    tags: Record<string, string>,
    attributes: Record<string, string>,
  ) => window.resources.set(resourceKey({ kind, tags }), { kind, tags, attributes, ...seen });
  for (let device = 0; device < DEVICES; device++) {
    const uuid = { "device.uuid": `GPU-8f3e1c52-${device}` };
    const both = { ...uuid, "process.pid": String(4_000 + device) };
    describe("device", uuid, {
      "device.name": "NVIDIA H100 80GB HBM3",
      "device.index": String(device),
    });
    GAUGES.forEach((name, i) =>
      add(name, uuid, { type: "gauge", value: 40 + (at * 7 + i * 3 + device) % 50 })
    );
    COUNTERS.forEach((name, i) =>
      add(name, uuid, { type: "counter", total: 1e6 * (1 + (at + i) % 9) })
    );
    add("gpu_busy_nanoseconds", both, { type: "counter", total: 9e9 + (at % 10) * 1e7 });
    add("cuda_kernels_nanoseconds", both, { type: "profile", frames: kernels(at, device) });
    for (const name of ["cuda_memcpy_nanoseconds", "cuda_sync_nanoseconds"]) {
      const frames = new Map(
        ["host_to_device", "device_to_host", "stream"].map((frame) =>
          [frame, { value: 1e7 + at * 11, samples: 300 }] as const
        ),
      );
      add(name, both, { type: "profile", frames });
    }
  }
  for (let i = 0; i < DEVICES + HELPERS; i++) {
    const pid = { "process.pid": String(4_000 + i) };
    describe("process", pid, { "process.command_line": `python train.py --worker ${i}` });
    for (const name of PROCESS_COUNTERS) add(name, pid, { type: "counter", total: (at + i) % 7 });
    for (const name of ["process_threads", "process_memory_usage_bytes"]) {
      add(name, pid, { type: "gauge", value: 100 + (at + i) % 30 });
    }
  }
  for (let core = 0; core < 192; core++) {
    const tags = { core: String(core) };
    add("host_cpu_core_percent", tags, { type: "gauge", value: (at + core) % 100 });
  }
  return window;
}

type Rest = { type: "gauge"; value: number } | { type: "counter"; total: number } | {
  type: "profile";
  frames: Map<string, { value: number; samples: number }>;
};

function kernels(at: number, device: number) {
  return new Map(Array.from({ length: KERNELS }, (_, i) => {
    const samples = 20 + Math.floor(3_000 / (i + 1));
    const value = samples * (2_000 + i * 90 + (at * 13 + device) % 100);
    return [symbol(i), { value, samples }] as const;
  }));
}

function symbol(i: number): string {
  if (i % 5 === 0) return `ncclDevKernel_AllReduce_Sum_bf16_RING_LL_${i}`;
  if (i % 5 === 1) return `nvjet_hsh_${64 + i}x128_64x4_1x2_h_bz_coopA_NNT`;
  if (i % 5 === 2) return `triton_poi_fused_add_mul_silu_${i}`;
  const length = String("vectorized_elementwise_kernel".length);
  return `_ZN2at6native${length}vectorized_elementwise_kernelILi${i}ENS0_11FillFunctorIfEEEEviT0_T1_`;
}
