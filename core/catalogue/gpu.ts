/** Metrics of GPU activity: kernels, graphs, copies and waits. */

import { type CatalogueEntry, PROCESS_TAGS as process } from "./entry.ts";

const activity = [...process, "device.uuid"];

/** The catalogue's entries of GPU activity. */
export const GPU_METRICS: readonly CatalogueEntry[] = [
  {
    name: "cuda_graph_trace_mode",
    type: "gauge",
    unit: null,
    tags: process,
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
      "same time on several streams each count in full, so the sum may pass the wall clock. In graph " +
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
    act: "value / samples is the time of one step at that size. To see the kernels inside, " +
      "trace by node.",
  },
  {
    name: "rocm_kernels_nanoseconds",
    type: "profile",
    unit: "nanoseconds",
    tags: activity,
    meaning: "GPU time by kernel symbol on ROCm; samples are dispatches.",
    read: "Every dispatch is recorded by itself, also those of graphs. There is no mode " +
      "gauge.",
    act: "As cuda_kernels_nanoseconds.",
  },
  {
    name: "cuda_memcpy_bytes",
    type: "counter",
    unit: "bytes",
    tags: [...activity, "kind"],
    meaning: "Bytes copied by the CUDA driver, by kind: host_to_device, device_to_host, " +
      "device_to_device, and so on.",
    read: "Copies by kernels and by collective libraries are not counted. Divide by the " +
      "copy time of the same kind for the bandwidth.",
    act: "Much host_to_device in every step: keep data on the device, pin host memory, overlap " +
      "copies with work. device_to_host in every step often hides a synchronization (.item()).",
  },
  {
    name: "cuda_memcpy_nanoseconds",
    type: "profile",
    unit: "nanoseconds",
    tags: activity,
    meaning: "GPU time of copies by the CUDA driver; the frame is the kind (host_to_device, " +
      "device_to_host, device_to_device, peer_to_peer, and so on), samples are copies.",
    read: "Copies overlap with kernels and with each other, so their time is not time lost by " +
      "itself. In graph mode copies inside of a graph are part of the graph's time. Empty: no " +
      "copy was made.",
    act: "Divide cuda_memcpy_bytes of the same kind by it: far below the link's bandwidth means " +
      "small copies (batch them) or pageable memory (pin it).",
  },
  {
    name: "cuda_memset_nanoseconds",
    type: "profile",
    unit: "nanoseconds",
    tags: activity,
    meaning:
      "GPU time of memory sets; the frame is the kind of memory (device, pinned, pageable, " +
      "managed, and so on), samples are sets.",
    read: "Seldom large. In graph mode sets inside of a graph are part of the graph's time. " +
      "Empty: nothing was set.",
    act: "Large: buffers are cleared in every step that are overwritten anyway; allocate them " +
      "uninitialized, and once.",
  },
  {
    name: "cuda_memset_bytes",
    type: "counter",
    unit: "bytes",
    tags: [...activity, "kind"],
    meaning: "Bytes set by the CUDA driver, by kind of memory.",
    read: "Kernels that fill memory themselves are not in it.",
    act: "As cuda_memset_nanoseconds.",
  },
  {
    name: "cuda_sync_nanoseconds",
    type: "profile",
    unit: "nanoseconds",
    tags: activity,
    meaning:
      "Time that threads of the processor waited for the GPU; the frame is what they waited " +
      "for: context, stream or event; samples are waits.",
    read: "Time of threads, not of the GPU: several that wait at once each count in full. " +
      "stream_wait_event is the GPU's own waiting and costs no thread. Much waiting beside a busy " +
      "GPU is healthy.",
    act: "Much waiting beside an idle GPU: the processor and the GPU take turns. Look for " +
      "synchronizing calls in every step (.item(), .cpu(), printing a tensor) and queue further ahead.",
  },
  {
    name: "cuda_kernel_duration_nanoseconds",
    type: "histogram",
    unit: "nanoseconds",
    tags: activity,
    meaning: "How long single kernels ran: every kernel in cuda_kernels_nanoseconds, all symbols " +
      "together.",
    read: "In graph mode kernels of graphs are not in it. A median below about 5 microseconds is " +
      "the range where launching costs as much as running. A p99 far above the median: a few large " +
      "kernels carry the time.",
    act: "Small median: fuse, batch, or use CUDA graphs. Long tail: find its kernels in " +
      "cuda_kernels_nanoseconds by value / samples.",
  },
  {
    name: "gpu_busy_nanoseconds",
    type: "counter",
    unit: "nanoseconds",
    tags: activity,
    meaning:
      "Time in which the process had at least one kernel, copy, set or graph on the device: " +
      "the exact union of their intervals.",
    read:
      "Divide by profiler_covered_nanoseconds: the rest is the share in which the device waited " +
      "for this process. Several processes may overlap, so do not add theirs. A graph counts as busy " +
      "from its start to its end, gaps inside included.",
    act: "A low share: the GPU is starved; look at process_cpu_usage_percent, input and " +
      "synchronizing. A high share: the time is in the kernels themselves.",
  },
  {
    name: "gpu_busy_late_nanoseconds",
    type: "counter",
    unit: "nanoseconds",
    tags: activity,
    meaning:
      "Time of work whose records came too late to tell whether it had been counted as busy.",
    read: "0 is normal: gpu_busy_nanoseconds is exact. Above 0, gpu_busy_nanoseconds lacks " +
      "at most this much.",
    act: "None: read the profiles, which contain all of it.",
  },
  {
    name: "cuda_dropped_records_total",
    type: "counter",
    unit: null,
    tags: process,
    meaning: "Records of GPU activity that were lost: by the CUDA driver when it had no " +
      "buffer left, or at the profiler's own limit of memory (estimated).",
    read: "Always present: 0 means that the profiles are complete. Above 0, they lack that many " +
      "launches; shares are still about right.",
    act: "In node mode go back to --cuda-graph-trace graph, which has one record for a " +
      "replay. Otherwise leave a processor free: the thread that reads the records falls " +
      "behind.",
  },
  {
    name: "cuda_invalid_records_total",
    type: "counter",
    unit: null,
    tags: process,
    meaning: "Records of GPU activity without a usable time: no start, or an end before it. " +
      "They are in no other metric.",
    read: "0 is normal. Above 0, profiles lack that many samples.",
    act: "None if they are few beside all samples. Otherwise update the driver, or use the " +
      "other graph mode.",
  },
  {
    name: "cuda_unidentified_graphs_total",
    type: "counter",
    unit: null,
    tags: process,
    meaning: "CUDA graphs whose structure could not be learned; their frame in " +
      "cuda_graphs_nanoseconds is graph_ and a number of this process.",
    read: "0 is normal. Above 0, those frames cannot be compared with other runs and " +
      "processes; their time is right.",
    act: "None for a single run. To compare runs, trace by node: --cuda-graph-trace node.",
  },
];
