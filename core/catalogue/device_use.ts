/** Metrics of how much of a device is used: its memory, its processors, and their pipes. */

import { gauge, withDistribution } from "./device_entry.ts";
import type { CatalogueEntry } from "./entry.ts";

/** Said of what only newer devices measure. */
const SINCE_HOPPER = "Only Hopper and later devices measure it; elsewhere it is absent.";

const SHARES: readonly CatalogueEntry[] = [
  {
    ...gauge,
    name: "gpu_utilization_percent",
    unit: "percent",
    meaning: "Share of the driver's last sampling period in which at least one kernel ran.",
    read: "100 does not mean full: one small kernel at a time gives 100 too; see " +
      "gpu_sm_utilization_percent. It is the whole device, other processes included. 0: idle. " +
      "Absent: profiler_capture_state{capture=gpu_devices} says why; a device that is divided into " +
      "MIG devices has none.",
    act:
      "Low: the GPU waits; look at processor, input and synchronizing. High: look at the kernels " +
      "themselves, and at power and clocks.",
  },
  {
    ...gauge,
    name: "gpu_memory_utilization_percent",
    unit: "percent",
    meaning:
      "Share of the driver's last sampling period in which device memory was read or written.",
    read: "A share of time, not of bandwidth, and not of capacity: 100 is far from saturation. " +
      "Prefer gpu_dram_bandwidth_utilization_percent where it exists.",
    act: "None by itself. For capacity read gpu_memory_used_bytes.",
  },
  {
    ...gauge,
    name: "gpu_sm_utilization_percent",
    unit: "percent",
    meaning:
      "Share of the multiprocessors that had at least one warp, averaged over the last second.",
    read: `${SINCE_HOPPER} Far below gpu_utilization_percent: kernels are too small to fill the ` +
      "device, or few of their blocks fit.",
    act:
      "Low beside a high gpu_utilization_percent: larger batches, more blocks, kernels on several " +
      "streams.",
  },
  {
    ...gauge,
    name: "gpu_sm_occupancy_percent",
    unit: "percent",
    meaning:
      "Resident warps in relation to the most that the multiprocessors hold, averaged over " +
      "the last second.",
    read:
      `${SINCE_HOPPER} Idle multiprocessors count as empty. Good matrix kernels run at 10 to 30; ` +
      "more is not better by itself.",
    act:
      "Low, and neither tensor nor memory bandwidth busy: latency is exposed; fewer registers or " +
      "less shared memory a block, or smaller blocks.",
  },
  {
    ...gauge,
    name: "gpu_tensor_utilization_percent",
    unit: "percent",
    meaning:
      "Share of the cycles in which tensor cores worked, averaged over the last second and " +
      "all multiprocessors.",
    read: `${SINCE_HOPPER} Multiplied by the peak of the data type in use ` +
      "(device.peak_bf16_teraflops and the like of the device's resource) it bounds the arithmetic " +
      "from above: the x of a roofline without a kernel profiler. 0 beside a busy GPU: no tensor " +
      "core is used at all.",
    act: "0 in matrix work: FP32 without TF32, or shapes that are not multiples of 8 or 16. Low " +
      "beside a high gpu_dram_bandwidth_utilization_percent: bound by memory; larger batches, fusion, " +
      "a smaller data type. Low beside both low: launches or waits.",
  },
  {
    ...gauge,
    name: "gpu_dram_bandwidth_utilization_percent",
    unit: "percent",
    meaning: "Bytes read from and written to device memory in relation to its peak bandwidth, " +
      "averaged over the last second.",
    read: `${SINCE_HOPPER} Multiplied by device.peak_memory_gigabytes_per_second of the device's ` +
      "resource it is the bandwidth reached. 80 to 90 is saturated in practice.",
    act:
      "Saturated: fewer bytes. Fuse elementwise kernels, use a smaller data type for weights or " +
      "cache, larger batches for decoding. Low beside low tensor use: see gpu_sm_utilization_percent.",
  },
  {
    ...gauge,
    name: "gpu_fp64_utilization_percent",
    unit: "percent",
    meaning:
      "Share of the cycles in which the FP64 pipes worked, without tensor cores, averaged over " +
      "the last second.",
    read: `${SINCE_HOPPER} 0 is normal outside of scientific work.`,
    act: "Above 0 in learning or inference: a stray double; look for float64 tensors and literals.",
  },
  {
    ...gauge,
    name: "gpu_fp32_utilization_percent",
    unit: "percent",
    meaning:
      "Share of the cycles in which the FP32 pipes worked, without tensor cores, averaged over " +
      "the last second.",
    read: `${SINCE_HOPPER} Elementwise work and softmax are here; matrix products should be in ` +
      "gpu_tensor_utilization_percent.",
    act:
      "High beside tensor use near 0: matrix products run in single precision; allow TF32 or use " +
      "BF16.",
  },
  {
    ...gauge,
    name: "gpu_fp16_utilization_percent",
    unit: "percent",
    meaning:
      "Share of the cycles in which the FP16 pipes worked, without tensor cores, averaged over " +
      "the last second.",
    read: `${SINCE_HOPPER} Usually near 0: half precision is mostly computed by tensor cores.`,
    act: "High beside tensor use near 0: shapes or layouts that no tensor core kernel takes.",
  },
];

/** The catalogue's entries of the use of devices. */
export const DEVICE_USE_METRICS: readonly CatalogueEntry[] = [
  ...SHARES.flatMap(withDistribution),
  {
    ...gauge,
    name: "gpu_memory_used_bytes",
    unit: "bytes",
    meaning: "Device memory that is allocated, by all processes.",
    read:
      "Caching allocators keep what they free: an engine that preallocates its cache stands near " +
      "the total from the start. gpu_memory_reserved_bytes is not in it.",
    act:
      "Near the total beside allocation errors: a smaller batch, cache or sequence. Far below it: " +
      "room for a larger batch or cache.",
  },
  {
    ...gauge,
    name: "gpu_memory_free_bytes",
    unit: "bytes",
    meaning: "Device memory that can still be allocated.",
    read:
      "The total without what is used and what the driver reserves. Free memory may be in pieces.",
    act: "As gpu_memory_used_bytes.",
  },
  {
    ...gauge,
    name: "gpu_memory_total_bytes",
    unit: "bytes",
    meaning: "Device memory in total; of a MIG device its share.",
    read: "Constant. ECC in GDDR memory makes it smaller than the data sheet's.",
    act: "None; divide gpu_memory_used_bytes by it.",
  },
  {
    ...gauge,
    name: "gpu_memory_reserved_bytes",
    unit: "bytes",
    meaning: "Device memory that the driver and firmware keep for themselves.",
    read: "Some hundred megabytes are normal. Absent: an old driver, which counts it as used.",
    act: "None.",
  },
];
