/** Metrics of the workload's processes. */

import type { CatalogueEntry } from "./entry.ts";

const tags = ["process.pid", "process.command"];

/**
 * The catalogue's entries of a process: read once a second from `/proc/<pid>`; beyond processor time
 * and threads, of more than 32 processes in turns. A series has the tag `process.pid`, or is the sum
 * over processes of a `process.command` that have none of their own.
 */
export const PROCESS_METRICS: readonly CatalogueEntry[] = [
  {
    name: "process_cpu_usage_percent",
    type: "gauge",
    unit: "percent",
    tags,
    meaning: "Share of all the host's processors that the process had in the last second.",
    read: "One thread that never waits has 100 / host.cpu_count percent: 12.5 on 8 processors. " +
      "Absent in the process's first sample, as it takes two readings.",
    act: "A process that sits at exactly one processor's share is bound by one thread: move work " +
      "to other threads or processes, or to the GPU (tokenizing, sampling, augmenting).",
  },
  {
    name: "process_count",
    type: "gauge",
    unit: null,
    tags: ["process.command"],
    meaning: "Processes of a command whose series are added up, because there are very many.",
    read:
      "Beside more than 500 processes only the 500 busiest of any second have series of their own, " +
      "and keep them to their end (at most 1,000 at a time). The other series have the tag process.command instead of " +
      "process.pid and are sums over this many processes, so that all series add up to the tree. " +
      "The share of the processors and memory too are sums there. Absent with fewer processes.",
    act: "Thousands of processes that sleep cost memory alone. Start fewer, or let them end.",
  },
  {
    name: "process_user_cpu_seconds",
    type: "counter",
    unit: "seconds",
    tags,
    meaning: "Processor time of all threads in the program's own code.",
    read:
      "All since the process's start, in steps of 0.01 s. What it used after its last reading " +
      "(up to a second before its end), and processes that lived between two readings, are in " +
      "process_ended_user_cpu_seconds: add both over all series for the time of the whole run.",
    act:
      "Divide by profiler_covered_nanoseconds / 1e9 for the mean number of busy threads. Sample " +
      "the process's stacks to see where they are.",
  },
  {
    name: "process_system_cpu_seconds",
    type: "counter",
    unit: "seconds",
    tags,
    meaning: "Processor time of all threads in the kernel on the process's behalf.",
    read: "As process_user_cpu_seconds. Polling a driver, page faults and copies count here.",
    act:
      "More than about a fifth of the user time: look for small reads and writes, memory mapped " +
      "and unmapped again and again, or busy waiting for the GPU.",
  },
  {
    name: "process_ended_user_cpu_seconds",
    type: "counter",
    unit: "seconds",
    tags: [],
    meaning: "Processor time in programs' own code of processes that have ended, as far as no " +
      "process_user_cpu_seconds has it: the ends of those that were measured, and all of those " +
      "that lived between two readings.",
    read:
      "Add it to process_user_cpu_seconds of all processes: the sum is what getrusage says of the " +
      "whole tree, its orphans included. The kernel tells the time of an ended process to the one " +
      "that waits for it: this counts what waiters gain, less what series of the ended have. At the " +
      "end of a run it is exact to the microsecond. A process whose parent ignores its children " +
      "(SIGCHLD) has only what was read before its end.",
    act:
      "Most of the run's time: it starts many short programs, as loops of a shell, compilers and " +
      "tokenizers in subprocesses do. Let one process do the work of many.",
  },
  {
    name: "process_ended_system_cpu_seconds",
    type: "counter",
    unit: "seconds",
    tags: [],
    meaning: "Processor time in the kernel of processes that have ended, as far as no " +
      "process_system_cpu_seconds has it.",
    read:
      "As process_ended_user_cpu_seconds, with process_system_cpu_seconds. Starting and ending a " +
      "process counts here.",
    act:
      "More than the user time beside it: the programs are too short for what their start costs.",
  },
  {
    name: "process_memory_usage_bytes",
    type: "gauge",
    unit: "bytes",
    tags,
    meaning: "Memory of the process that is in RAM (resident set).",
    read: "Pages shared between processes count in each: the sum over processes is too " +
      "high. GPU memory is not in it. With n > 32 processes it is read every n/32 " +
      "seconds: see updated_ns. Absent when the process may not be read.",
    act: "Steady growth is a leak or a growing cache. Equal growth in all loader workers: Python " +
      "objects copied on write; keep data in arrays.",
  },
  {
    name: "process_memory_virtual_bytes",
    type: "gauge",
    unit: "bytes",
    tags,
    meaning: "Address space that the process has reserved.",
    read: "CUDA reserves far more than it uses: large is normal and costs nothing. Do not " +
      "add it over processes.",
    act: "None, unless a limit on address space makes allocations fail.",
  },
  {
    name: "process_threads",
    type: "gauge",
    unit: "threads",
    tags,
    meaning: "Threads of the process.",
    read:
      "Most may sleep. A sum over processes far above host.cpu_count matters only together with " +
      "involuntary switches or cpu pressure.",
    act:
      "Growing without end: threads leak. Every worker with as many threads as processors: set " +
      "OMP_NUM_THREADS.",
  },
  {
    name: "process_context_switches_voluntary_total",
    type: "counter",
    unit: null,
    tags,
    meaning: "Times that a thread of the process gave up its processor in order to wait.",
    read:
      "Added up over threads. A process with more than 16 threads (fewer where there are more than " +
      "8 processes) is read every tenth second; " +
      "switches of a thread after its last reading are not seen.",
    act: "Tens of thousands a second: threads hand work over in too small pieces, or fight for a " +
      "lock (the GIL). Batch the work.",
  },
  {
    name: "process_context_switches_involuntary_total",
    type: "counter",
    unit: null,
    tags,
    meaning: "Times that a thread of the process lost its processor while it still had work.",
    read: "As process_context_switches_voluntary_total.",
    act: "Many: more busy threads than processors, or a container's limit. Use fewer threads, or " +
      "pin the process that feeds the GPU.",
  },
  {
    name: "process_io_read_bytes",
    type: "counter",
    unit: "bytes",
    tags,
    meaning: "Bytes that the process got from read calls: files, pipes, terminals.",
    read: "Reads from the page cache are included; memory-mapped files and most socket " +
      "receives are not. The kernel adds a child's count to its parent when the parent has " +
      "waited for it: do not add a parent to its ended children. Absent when the process may " +
      "not be read (another user).",
    act: "Compare with process_storage_read_bytes: a large rest came from the page cache, so " +
      "faster disks will not help.",
  },
  {
    name: "process_io_write_bytes",
    type: "counter",
    unit: "bytes",
    tags,
    meaning: "Bytes that the process gave to write calls: files, pipes, terminals.",
    read: "As process_io_read_bytes.",
    act:
      "High without a checkpoint: logging, or data passed between processes through pipes; use " +
      "shared memory.",
  },
  {
    name: "process_storage_read_bytes",
    type: "counter",
    unit: "bytes",
    tags,
    meaning: "Bytes that storage had to read for the process.",
    read: "Page faults of memory-mapped files are included, reads from the page cache are " +
      "not. Ended children count in their parent, as with process_io_read_bytes.",
    act:
      "High all the time: the data set does not fit in memory, or is read at random. High only " +
      "at the start: loading weights; place them on local disks.",
  },
  {
    name: "process_storage_write_bytes",
    type: "counter",
    unit: "bytes",
    tags,
    meaning: "Bytes that the process wrote to the page cache and that storage has to write.",
    read: "Counted when a page turns dirty, not when it is written; a file that is deleted " +
      "at once counts, too.",
    act: "As host_disk_write_bytes; this names the process.",
  },
  {
    name: "process_open_descriptors",
    type: "gauge",
    unit: "descriptors",
    tags,
    meaning: "Files, sockets and devices that the process has open.",
    read: "Before Linux 6.2 read every tenth second. Absent when the process may not be read " +
      "(another user).",
    act: "Steady growth is a leak; it ends in 'Too many open files'.",
  },
];
