/** Metrics of the host. */

import type { CatalogueEntry } from "./entry.ts";

/** The catalogue's entries of the host: read once a second from `/proc`. */
export const HOST_METRICS: readonly CatalogueEntry[] = [
  {
    name: "host_cpu_usage_percent",
    type: "gauge",
    unit: "percent",
    tags: [],
    meaning:
      "Share of the last second in which the host's processors were busy, all of them together.",
    read:
      "100 is every processor busy; one busy processor of 8 is 12.5. Waiting for a disk is not " +
      "busy. It is the whole machine, other tenants included, whatever a container may use. Absent " +
      "in the first second, as it takes two readings.",
    act: "Compare with the sum of process_cpu_usage_percent: a large rest is other load on the " +
      "machine. Low while the GPU idles points at a serial path: look for one process near " +
      "100 / processors.",
  },
  {
    name: "host_cpu_mode_percent",
    type: "gauge",
    unit: "percent",
    tags: ["mode"],
    meaning:
      "Share of the last second that all processors together spent in one mode: user, nice, " +
      "system, idle, iowait, irq, softirq, steal.",
    read:
      "The modes add up to 100. Time of guest machines is within user and nice. iowait is idle " +
      "time with disk reads outstanding: low does not prove that storage is fast. Absent in the " +
      "first second.",
    act:
      "High system: many small calls, page faults or copies. High iowait: storage. High softirq: " +
      "network. Any steal: the hypervisor gives the processors to others.",
  },
  {
    name: "host_memory_usage_bytes",
    type: "gauge",
    unit: "bytes",
    tags: [],
    meaning: "Memory that could not be had without swapping: total less available.",
    read:
      "The page cache that can be dropped is not in it. The whole machine; a container's limit " +
      "may be lower.",
    act: "Near host_memory_total_bytes: find the process with the growing " +
      "process_memory_usage_bytes, use fewer loader workers or less pinned memory.",
  },
  {
    name: "host_memory_available_bytes",
    type: "gauge",
    unit: "bytes",
    tags: [],
    meaning: "Memory that new work can have without swapping, as the kernel estimates it.",
    read: "Includes page cache that can be dropped. Absent before Linux 3.14.",
    act: "Room for caches, more loader workers or pinned buffers.",
  },
  {
    name: "host_memory_total_bytes",
    type: "gauge",
    unit: "bytes",
    tags: [],
    meaning: "Memory of the host that its kernel can use.",
    read: "Constant. A container's limit may be lower.",
    act: "The scale for the other memory metrics.",
  },
  {
    name: "host_swap_usage_bytes",
    type: "gauge",
    unit: "bytes",
    tags: [],
    meaning: "Memory that is swapped out.",
    read: "A constant value is harmless; a growing one slows every access to that memory.",
    act: "When it grows, reduce memory use before anything else.",
  },
  {
    name: "host_swap_total_bytes",
    type: "gauge",
    unit: "bytes",
    tags: [],
    meaning: "Swap space of the host.",
    read: "0: the host has no swap, and a process is killed when memory runs out.",
    act: "The scale for host_swap_usage_bytes.",
  },
  {
    name: "host_load_average",
    type: "gauge",
    unit: null,
    tags: ["window"],
    meaning:
      "Threads that run, want to run, or wait for a disk, averaged by the kernel over window: " +
      "1m, 5m, 15m.",
    read: "Compare with the attribute host.cpu_count: above it, threads wait in line. It " +
      "lags; host_cpu_usage_percent and host_pressure_stall_percent show the present.",
    act: "Far above the number of processors: fewer workers or threads (OMP_NUM_THREADS, loader " +
      "workers).",
  },
  {
    name: "host_pressure_stall_percent",
    type: "gauge",
    unit: "percent",
    tags: ["resource", "kind"],
    meaning: "Share of the last ten seconds in which some task, or all tasks that had work " +
      "(kind some, full), stalled for lack of a resource: cpu, memory, io.",
    read: "Averaged by the kernel. There is no full for cpu. Absent where the kernel does " +
      "not measure pressure (before Linux 4.20, or off).",
    act: "The shortest proof of a bottleneck: io full is time in which all work waited for " +
      "storage, memory full is thrashing, cpu some is too many threads.",
  },
  {
    name: "host_pressure_stall_microseconds",
    type: "counter",
    unit: "microseconds",
    tags: ["resource", "kind"],
    meaning: "Time in which some task, or all tasks that had work, stalled for lack of a " +
      "resource: cpu, memory, io.",
    read: "Divide by profiler_covered_nanoseconds / 1e3 for the exact share over any window. " +
      "Counts from the profiler's first sample. Absent where the kernel does not measure pressure.",
    act: "As host_pressure_stall_percent, to compare two versions of a workload over a whole run.",
  },
  {
    name: "host_disk_read_bytes",
    type: "counter",
    unit: "bytes",
    tags: ["device"],
    meaning: "Bytes that a block device has read.",
    read: "Whole devices, without partitions, loop and memory devices. A volume (dm-0, md0) " +
      "and the disks under it each count the same bytes: do not add them. Reads from the page " +
      "cache and from network file systems are not counted. Counts from the profiler's first " +
      "sample.",
    act:
      "A steady high rate while the GPU waits: data loading. Cache the data set in memory or on " +
      "local disks, use larger files.",
  },
  {
    name: "host_disk_write_bytes",
    type: "counter",
    unit: "bytes",
    tags: ["device"],
    meaning: "Bytes that a block device has written.",
    read: "As host_disk_read_bytes. The kernel writes late: a burst may belong to work of some " +
      "seconds ago.",
    act: "Bursts at checkpoints: write them in the background, or less often.",
  },
  {
    name: "host_network_receive_bytes",
    type: "counter",
    unit: "bytes",
    tags: ["interface"],
    meaning: "Bytes that a network interface has received.",
    read: "The interfaces that the profiler sees (a container has its own), without loopback. " +
      "Bridges and virtual interfaces may count the same bytes: do not add them. RDMA traffic " +
      "(InfiniBand, NVLink) is not in it. Counts from the profiler's first sample.",
    act: "Compare with the link's speed. At the limit: compress, cache, or move data closer.",
  },
  {
    name: "host_network_transmit_bytes",
    type: "counter",
    unit: "bytes",
    tags: ["interface"],
    meaning: "Bytes that a network interface has sent.",
    read: "As host_network_receive_bytes.",
    act:
      "As host_network_receive_bytes. Much of it in distributed training without RDMA: gradients " +
      "go over TCP; check the collective library's transport.",
  },
];
