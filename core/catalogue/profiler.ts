/** Metrics of the profiler itself: its losses and its costs. */

import { DEVICE_TAGS } from "./device_entry.ts";
import { type CatalogueEntry, PROCESS_TAGS as process } from "./entry.ts";

/** The catalogue's entries of the profiler. */
export const PROFILER_METRICS: readonly CatalogueEntry[] = [
  {
    name: "profiler_capture_state",
    type: "gauge",
    unit: null,
    tags: ["capture", "reason", "stream", ...process],
    meaning:
      "Whether one kind of signal is captured: 1 is captured, 0 is not. For gpu_kernels one " +
      "series for each process that has started CUDA, for console_errors one for each stream.",
    read: "Read it before you take a missing metric for zero: at 0, absence says nothing " +
      "about the workload. A process with a reason stays at 0. One without has just started or " +
      "is interrupted: its attribute profiler.capture says which, and errors says by whom. " +
      "gpu_kernels without process.pid is 0 until any process of the workload was captured. " +
      "gpu_devices is 0 while no device has values: without an NVIDIA driver, and where the " +
      "environment hides all devices, reason says so.",
    act:
      "Do what reason asks for (another tool holds the GPU's profiling interface, a library is " +
      "missing), and run again.",
  },
  {
    name: "profiler_covered_nanoseconds",
    type: "counter",
    unit: "nanoseconds",
    tags: [],
    meaning: "Time that the windows of the answer cover, to the real end of the run.",
    read: "Divide by it for every share and rate: gpu_busy_nanoseconds / " +
      "profiler_covered_nanoseconds is the busy share. payload_ns - start_ns is only the span " +
      "that was asked for, and that may begin before the run, end after it, or have gaps: a run of " +
      "600 s covers 600 s whenever it is read. Between two cumulative reads, divide " +
      "differences by its difference. Absent: another uploader made the windows.",
    act: "Smaller than payload_ns - start_ns: the run was shorter than the span, or windows are " +
      "missing; errors names the gaps. What is divided by it stays right for the time covered.",
  },
  {
    name: "profiler_dropped_series_total",
    type: "counter",
    unit: null,
    tags: [],
    meaning: "Recordings of new series that were refused because the instance had its limit of " +
      "series, all of them in use.",
    read: "0 is normal. Above 0, series that came late are missing as a whole; recorded " +
      "ones are right.",
    act: "Scrape fewer metrics, or fewer tag values.",
  },
  {
    name: "profiler_evicted_series_total",
    type: "counter",
    unit: null,
    tags: [],
    meaning: "Silent series that were removed for new ones at the limit of series.",
    read: "0 is normal. Above 0, ended processes left the local report early; if one of the " +
      "series returns, its local total counts from then. Uploads are complete.",
    act: "Read a workload that starts thousands of short processes in hosted windows.",
  },
  {
    name: "profiler_scrapes_total",
    type: "counter",
    unit: null,
    tags: ["metrics.url"],
    meaning: "Reads of a Prometheus endpoint, without those before it was up.",
    read:
      "It grows by one every second, more slowly where the endpoint takes long to answer. 0: nothing has answered at that address yet.",
    act: "Staying at 0 while the engine serves: name the endpoint with --metrics-url.",
  },
  {
    name: "profiler_scrape_failures_total",
    type: "counter",
    unit: null,
    tags: ["metrics.url"],
    meaning: "Reads of a Prometheus endpoint without an answer, or with an incomplete one.",
    read: "Counters lose nothing by it; gauges are older. The reason is in errors, once for each.",
    act: "Do what the reason says; an engine that is too busy to answer in 2 s is one to look at.",
  },
  {
    name: "profiler_scrape_refused_series_total",
    type: "counter",
    unit: null,
    tags: ["metrics.url"],
    meaning:
      "Series of a Prometheus endpoint that were not recorded, counted in each read: beyond " +
      "the limits on tags, names and buckets, or not what their type allows, such as a histogram " +
      "without a sum.",
    read: "0 is normal. Above 0, those series are missing as a whole.",
    act: "Correct the exporter, or read the series directly from it.",
  },
  {
    name: "profiler_skipped_ticks_total",
    type: "counter",
    unit: null,
    tags: [],
    meaning: "Seconds without a sample because the one before was still being taken.",
    read: "Counters lose nothing; gauges are older than a second.",
    act: "The machine is overloaded, or a source answers slowly. If it grows all the time, leave " +
      "the profiler a processor.",
  },
  {
    name: "profiler_lost_console_bytes",
    type: "counter",
    unit: "bytes",
    tags: [],
    meaning: "Bytes of the workload's console that came faster than they could be looked at.",
    read: "0 is normal. Above 0, `errors` may lack some; the console itself had them all.",
    act: "Write less: the workload prints faster than its warnings and errors can be found.",
  },
  {
    name: "profiler_cpu_seconds",
    type: "counter",
    unit: "seconds",
    tags: [],
    meaning: "Processor time of the profiler itself.",
    read: "Divide by profiler_covered_nanoseconds / 1e9: 0.01 is one percent of one processor.",
    act: "If it matters beside the workload, report it: it should stay near 0.01 a second.",
  },
  {
    name: "profiler_memory_usage_bytes",
    type: "gauge",
    unit: "bytes",
    tags: [],
    meaning: "Memory of the profiler itself that is in RAM.",
    read: "About half of it is program text that all Deno processes share.",
    act: "None, unless it grows without end.",
  },
  {
    name: "profiler_run_file_pending_windows",
    type: "gauge",
    unit: "windows",
    tags: [],
    meaning: "Windows of measurements that are not in the run file: they wait in memory.",
    read: "0 or 1 is normal. Growing: the file system of the state directory is slow, full or " +
      "failing; errors says which. Nothing is lost while the run goes on; the file lacks what waits " +
      "at its end. Absent: SERVICE_RUN_FILES=0.",
    act: "Free space there, or name another directory with SERVICE_STATE_DIR.",
  },
  {
    name: "profiler_upload_pending_windows",
    type: "gauge",
    unit: "windows",
    tags: [],
    meaning: "Windows of measurements that are not yet acknowledged by the hosted API.",
    read:
      "0 or 1 is normal. Growing: the hosted API is out of reach and hosted reads lag by that " +
      "much; nothing is lost. Absent: there is no upload.",
    act: "Check the network and SERVICE_API_BASE; the local endpoint is complete meanwhile.",
  },
  {
    name: "profiler_upload_failures_total",
    type: "counter",
    unit: null,
    tags: [],
    meaning:
      "Attempts to upload without an answer, with a server error, or refused by a service that " +
      "is older than the profiler.",
    read: "Each is repeated, and nothing is lost. Absent: there is no upload.",
    act: "Growing without pause: see profiler_upload_pending_windows.",
  },
  {
    name: "profiler_upload_refused_seconds",
    type: "gauge",
    unit: "seconds",
    tags: [],
    meaning: "Time since the hosted API began to refuse the key of the upload; 0: it does not.",
    read: "0 is normal. Above 0, windows wait on disk, hosted reads lag by that much, and errors " +
      "says why; nothing is lost. Absent: there is no upload.",
    act:
      "Write a valid key of the same project to the file that SERVICE_API_KEY_FILE names: it is " +
      "read again. With SERVICE_API_KEY, the next run with a key of the project sends what waits.",
  },
  {
    name: "profiler_upload_rejected_windows_total",
    type: "counter",
    unit: null,
    tags: [],
    meaning: "Windows that the hosted API rejected permanently; they are kept on disk.",
    read: "It must be 0: above, the hosted totals lack these windows. Absent: there is no " +
      "upload.",
    act:
      "Read the server's answer in errors, and beside the window in the spool's folder rejected.",
  },
  {
    name: "profiler_upload_dropped_windows_total",
    type: "counter",
    unit: null,
    tags: [],
    meaning:
      "Windows waiting for upload that were dropped, because the spool was at its limit and " +
      "no two of its windows could be merged.",
    read: "It must be 0: above, the hosted totals lack these windows, and hosted reads say so. " +
      "Absent: there is no upload.",
    act: "Make the upload work again: profiler_upload_pending_windows and errors say why it waits.",
  },
  {
    name: "profiler_upload_damaged_windows_total",
    type: "counter",
    unit: null,
    tags: [],
    meaning: "Windows waiting for upload whose files were damaged or removed: they were not sent.",
    read: "It must be 0: above, the hosted totals lack these windows. Absent: there is no upload.",
    act: "Check the disk of the state directory; what is left is in the spool's folder damaged.",
  },
  {
    name: "profiler_refused_segments_total",
    type: "counter",
    unit: null,
    tags: [],
    meaning: "Processes whose measurements were not read, because their shared memory is " +
      "corrupt, cut short, of another user or of another version.",
    read: "0 is normal. Above 0, GPU activity of that many processes is missing from then " +
      "on; errors names each with the reason.",
    act: "Do what the reason says; a future version means that the workload was started by a " +
      "newer profiler than the one that watches.",
  },
  {
    name: "profiler_replaced_names_total",
    type: "counter",
    unit: null,
    tags: ["process.pid", "process.host_pid"],
    meaning:
      "Frames of the process whose name is not the driver's symbol: it was empty, had more " +
      "than 4,096 bytes, or was no readable text.",
    read: "0 is normal. An empty symbol is the frame (unnamed), a long one is cut and ends in … " +
      "and a hash, and each unreadable character is \ufffd. Their time is exact; unreadable " +
      "symbols that become the same text share a frame.",
    act: "Nothing is lost. Give kernels that are compiled at run time a short name.",
  },
  {
    name: "profiler_unsupported_metrics",
    type: "gauge",
    unit: "metrics",
    tags: DEVICE_TAGS,
    meaning: "Number of metrics that the device refuses to measure; they are absent.",
    read:
      "The attribute profiler.unsupported_metrics of the device's resource names each with the " +
      "driver's reason. Some are normal: a device without a fan has no fan speed.",
    act:
      "Not supported: none. No permission: an administrator must allow it. An old driver: update it.",
  },
  {
    name: "profiler_device_gap_nanoseconds",
    type: "counter",
    unit: "nanoseconds",
    tags: DEVICE_TAGS,
    meaning:
      "Time that the device's counters lack: one run polls a device for all runs of a user, " +
      "and between its end and the next one's first poll nobody does.",
    read: "0 in the usual case. About a second for each run that ended while it polled. " +
      "Where it matters, subtract it from profiler_covered_nanoseconds before dividing.",
    act: "None.",
  },
  {
    name: "profiler_capture_nanoseconds",
    type: "counter",
    unit: "nanoseconds",
    tags: process,
    meaning: "Time that threads of the workload spent in the profiler's callbacks.",
    read: "Divide by profiler_covered_nanoseconds: it is the cost of capturing for the " +
      "workload's own threads. The thread that reads the records is not included.",
    act: "Above a percent: go back to --cuda-graph-trace graph if it is node; otherwise report it.",
  },
];
