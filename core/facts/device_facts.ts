/** Facts of a device: what it did, and what its driver told of it. `null` is not measured. */

import type { DevicePeaks } from "../names/mod.ts";
import type { Tags } from "../tags.ts";
import type { Durations, Level } from "./level.ts";

/** GPU time under one name. */
export interface Work {
  /** Kernel symbol, graph signature, kind of copy, or what a thread waited for. */
  name: string;
  /** Time of all launches, replays, copies or waits, seconds. */
  seconds: number;
  /** Number of launches, replays, copies or waits. */
  times: number;
}

/** GPU time of one kernel. */
export interface KernelWork extends Work {
  /** A short readable name. */
  short: string;
  /** What kind of work it is: gemm, attention, collective and so on; `other` where nothing tells. */
  category: string;
  /** Library that it is of, such as `cuBLAS`; `null` where nothing tells. */
  library: string | null;
  /** Data types that the symbol states, such as `bf16`. */
  data_types: readonly string[];
}

/** Copies of one kind by the driver. */
export interface CopyWork extends Work {
  /** Bytes that were copied; `null` where only times are known. */
  bytes: number | null;
}

/** What the run did on a device, as its records tell; sums over the processes of the run. */
export interface Activity {
  /** `cuda` or `rocm`: the prefix of the metrics. */
  source: "cuda" | "rocm";
  /** Processes that worked on the device. */
  pids: string[];
  /** Seconds for which records were taken, of the process with most. */
  captured_seconds: number;
  /**
   * Seconds in which at least one process had work on the device. Processes may overlap: with several
   * it is the greatest of one process, and {@linkcode Activity.busy_at_most_seconds} their sum.
   */
  busy_seconds: number;
  /** The sum of the busy seconds of all processes, at most the captured seconds. */
  busy_at_most_seconds: number;
  /** 0 graphs are traced whole, 1 node by node; `null` when not told, as on ROCm, or both. */
  graph_trace_mode: 0 | 1 | null;
  /** Kernels, the largest first. In graph mode those of graphs are not in it. */
  kernels: KernelWork[];
  /** Seconds of frames that are not named one by one: `(other)`, `(not shown)`. */
  unnamed_kernel_seconds: number;
  /** Graphs by signature, the largest first. */
  graphs: Work[];
  /** Copies by kind, the largest first. */
  copies: CopyWork[];
  /** Sets of memory by kind. */
  sets: CopyWork[];
  /** Waits of the processor's threads for the device, by what they waited for. */
  waits: Work[];
  /** How long single kernels ran. */
  kernel_durations: Durations | null;
  /** Records that were lost or unusable. */
  lost_records: number;
}

/** A link between the device and something else. */
export interface Link {
  /** Current generation of PCI Express under load: the highest that was seen. */
  generation: number | null;
  /** Generation that device and slot could have. */
  max_generation: number | null;
  /** Lanes now. */
  width: number | null;
  /** Lanes that device and slot could have. */
  max_width: number | null;
  /** Bytes a second to the device. */
  received_bytes_per_second: Level | null;
  /** Bytes a second from the device. */
  sent_bytes_per_second: Level | null;
  /** Replays over the span. */
  replays: number | null;
}

/** Facts of one device. */
export interface DeviceFacts {
  /** `device.uuid`. */
  uuid: string;
  /** `device.index`, as the driver counts. */
  index: number | null;
  /** `device.name`, such as `NVIDIA H100 80GB HBM3`. */
  name: string | null;
  /** Attributes of the device's resource. */
  attributes: Tags;
  /** What the hardware can do at most; `null` where it is not known. */
  peaks: DevicePeaks | null;
  /** Peak memory bandwidth, bytes a second; `null` where it is not known. */
  peak_memory_bytes_per_second: number | null;
  /** What the run did on it; `null`: no record of GPU activity names this device. */
  activity: Activity | null;
  /** Share of the time in which a kernel ran, of all processes: 0 to 1, as all shares below. */
  utilization: Level | null;
  /** Share of multiprocessors' time with work. */
  sm: Level | null;
  /** Resident warps of the most possible. */
  occupancy: Level | null;
  /** Share of the tensor cores' time. */
  tensor: Level | null;
  /** Share of the peak bandwidth of the device's memory. */
  dram: Level | null;
  /** Share of the fp32 pipe. */
  fp32: Level | null;
  /** Bytes of device memory in use, by all processes. */
  memory_used_bytes: Level | null;
  /** Bytes of device memory. */
  memory_total_bytes: number | null;
  /** Power, watts. */
  power_watts: Level | null;
  /** The limit in force, watts. */
  power_limit_watts: number | null;
  /** The limit as delivered, watts. */
  default_power_limit_watts: number | null;
  /** Clock of the multiprocessors, MHz. */
  clock_megahertz: Level | null;
  /** The highest clock, MHz. */
  max_clock_megahertz: number | null;
  /** Celsius. */
  temperature: Level | null;
  /** Share of the time in which each reason lowered the clock; `null` when not measured. */
  throttled: { reason: string; share: number }[] | null;
  /** PCI Express. */
  pcie: Link;
  /** Bytes a second over NVLink or XGMI, both ways. */
  nvlink_bytes_per_second: number | null;
  /** Links that are up, and that there are. */
  nvlinks: { active: number; all: number } | null;
  /** Errors of NVLink over the span, all kinds. */
  nvlink_errors: number | null;
  /** Errors over the span. */
  ecc: { corrected: number | null; uncorrected: number | null };
  /** Critical XIDs over the span. */
  xids: number | null;
}
