/** Completeness: what was captured, what was not, and what was lost. */

import type { CaptureState, Loss } from "./instance_facts.ts";
import type { Reading } from "./reading.ts";

/** Sums that are 0 where nothing is missing. */
const LOSSES: readonly string[] = [
  "cuda_dropped_records_total",
  "cuda_invalid_records_total",
  "cuda_unidentified_graphs_total",
  "rocm_dropped_records_total",
  "rocm_invalid_records_total",
  "gpu_busy_late_nanoseconds",
  "profiler_device_gap_nanoseconds",
  "profiler_dropped_series_total",
  "profiler_evicted_series_total",
  "profiler_lost_console_bytes",
  "profiler_refused_segments_total",
  "profiler_replaced_names_total",
  "profiler_scrape_failures_total",
  "profiler_scrape_refused_series_total",
  "profiler_skipped_ticks_total",
  "profiler_upload_damaged_windows_total",
  "profiler_upload_rejected_windows_total",
];

/** Tags that say of which process or stream a state is. */
const OF: readonly string[] = ["stream", "process.pid", "metrics.url"];

/** What is captured, by the newest states. */
export function capturesOf(reading: Reading): CaptureState[] {
  return reading.series("profiler_capture_state").flatMap((series) => {
    if (series.type !== "gauge") return [];
    const { capture = "", reason = null } = series.tags;
    const of = OF.flatMap((tag) => series.tags[tag] ?? []).join(" ");
    return [{ capture, of, is_captured: Number(series.value) > 0, reason }];
  }).sort((a, b) => a.capture < b.capture ? -1 : a.capture > b.capture ? 1 : a.of < b.of ? -1 : 1);
}

/** The sums that are above 0. */
export function lossesOf(reading: Reading): Loss[] {
  return LOSSES.flatMap((metric) => {
    const total = reading.total(metric) ?? 0;
    return total > 0 ? [{ metric, total }] : [];
  });
}
