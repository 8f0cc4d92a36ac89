/** Metrics of GPU activity that the interface names. */

import type { CatalogueEntry } from "./catalogue.ts";

const activity = ["process.pid", "device.uuid"];

/** The catalogue's entries of GPU activity. */
export const GPU_METRICS: readonly CatalogueEntry[] = [
  {
    name: "cuda_graph_trace_mode",
    type: "gauge",
    unit: null,
    tags: ["process.pid"],
    meaning:
      "How CUDA graphs are traced: 0 as whole graphs (the default), 1 node by node (started " +
      "with --cuda-graph-trace node).",
    read: "Read it before the kernel profile. 0: kernels replayed from a graph are absent from " +
      "cuda_kernels_nanoseconds and their time is in cuda_graphs_nanoseconds. 1: every kernel is in " +
      "cuda_kernels_nanoseconds, and cuda_graphs_nanoseconds is present and empty.",
    act: "To see which kernels fill a graph, run once with --cuda-graph-trace node; it costs more.",
  },
  {
    name: "cuda_kernels_nanoseconds",
    type: "profile",
    unit: "nanoseconds",
    tags: activity,
    meaning: "GPU time by kernel symbol; samples are launches.",
    read:
      "Cumulative; two reads give the profile of the time between them. Kernels that ran at the " +
      "same time on several streams each count whole, so the sum may pass the wall clock. In graph " +
      "mode a sum far below the GPU's busy time is expected. Absent: nothing was captured; " +
      "profiler_capture_state says why.",
    act: "Start with the largest frame: value / samples is its mean time. Many samples of a few " +
      "microseconds: fuse, or use CUDA graphs. A large generic kernel: a library's tuned one, a " +
      "lower precision, another shape.",
  },
  {
    name: "cuda_graphs_nanoseconds",
    type: "profile",
    unit: "nanoseconds",
    tags: activity,
    meaning:
      "GPU time by unique CUDA graph structure; the frame is a signature of 16 hex digits, " +
      "samples are replays.",
    read: "Only in graph mode; present and empty in node mode. Together with " +
      "cuda_kernels_nanoseconds it is all GPU time. In an engine each frame is usually one batch size.",
    act: "value / samples is the time of one step at that size. For what is inside, trace by node.",
  },
  {
    name: "rocm_kernels_nanoseconds",
    type: "profile",
    unit: "nanoseconds",
    tags: activity,
    meaning: "GPU time by kernel symbol on ROCm; samples are dispatches.",
    read: "Every dispatch by itself, always: those of graphs too. There is no mode gauge.",
    act: "As cuda_kernels_nanoseconds.",
  },
  {
    name: "gpu_utilization_percent",
    type: "gauge",
    unit: "percent",
    tags: ["device.uuid", "device.bus_id"],
    meaning: "Share of the driver's last sampling period in which at least one kernel ran.",
    read: "100 does not mean full: one small kernel at a time gives 100 too. It is the whole " +
      "device, other processes included. Absent: the vendor's library could not be asked; 0: idle.",
    act:
      "Low: the GPU waits; look at processor, input and synchronizing. High: look at the kernels " +
      "themselves, and at power and clocks.",
  },
  {
    name: "cuda_memcpy_bytes",
    type: "counter",
    unit: "bytes",
    tags: [...activity, "kind"],
    meaning: "Bytes copied by the CUDA driver, by kind: host_to_device, device_to_host, " +
      "device_to_device, and so on.",
    read: "Copies that kernels make themselves are not in it, nor are those of collective " +
      "libraries. Divide by the copy time of the same kind for the bandwidth.",
    act: "Much host_to_device in every step: keep data on the device, pin host memory, overlap " +
      "copies with work. device_to_host in every step often hides a synchronization (.item()).",
  },
];
