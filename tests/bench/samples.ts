/** Sample windows and payloads: gauges, counters, histograms and a profile of 200 frames. */

import {
  binIndex,
  count,
  emptyWindow,
  type Series,
  seriesKey,
  snapshot,
  type Upload,
  type Window,
} from "@service/core";
import { SECOND_NS } from "@service/core/time";

const START_NS = 1_790_000_000n * SECOND_NS;

/** Ten-second window number `at` of an instance with `seriesCount` series. */
export function sampleWindow(seriesCount: number, at = 0): Window {
  const window = emptyWindow(START_NS + BigInt(at) * 10n * SECOND_NS);
  window.to_ns = window.from_ns + 10n * SECOND_NS;
  for (let i = 0; i < seriesCount; i++) {
    const series = sampleSeries(i, at, window.to_ns);
    window.series.set(seriesKey(series), series);
  }
  return window;
}

/** The upload of {@linkcode sampleWindow}. */
export function sampleUpload(instance_id: string, seriesCount: number, at: number): Upload {
  return {
    instance_id,
    profiler_version: "0.0.0",
    start_ns: START_NS,
    tags: { "instance.id": instance_id, "host.name": "bench" },
    attributes: { "process.command_line": "python3 train.py" },
    final: false,
    window: sampleWindow(seriesCount, at),
  };
}

/** A payload of at least `bytes` bytes of JSON. */
export function samplePayload(bytes: number) {
  const seriesCount = Math.ceil(bytes / 165);
  return snapshot(sampleWindow(seriesCount), { context: { "instance.id": "0123456789ab" } });
}

function sampleSeries(i: number, at: number, updated_ns: bigint): Series {
  const tags = { "process.pid": String(4_000 + i % 8), "device.uuid": `GPU-${i >> 3}` };
  const value = (i * 7_919 + at * 104_729) % 1_000_003;
  const base = { tags, updated_ns };
  if (i === 0) {
    const frames = Array.from({ length: 200 }, (_, f) =>
      [
        `_ZN7cutlass6KernelILi${f}EEvNT_6ParamsE`,
        { value: (value + f * 31) * 1_000, samples: f + at % 7 + 1 },
      ] as const);
    return { ...base, name: "cuda_kernels_nanoseconds", type: "profile", frames: new Map(frames) };
  }
  if (i % 10 === 1) {
    const bins = new Map<number, number>();
    for (let k = 0; k < 20; k++) count(bins, binIndex(1_000 * (1 + (value + k * k) % 997)), k + 1);
    return {
      ...base,
      name: "cuda_kernel_duration_nanoseconds",
      type: "histogram",
      count: 210,
      sum: value * 210,
      min: 1_000,
      max: 997_000,
      buckets: { bins },
    };
  }
  return i % 2 === 0
    ? { ...base, name: "gpu_power_usage_watts", type: "gauge", value: value / 8 }
    : { ...base, name: "cuda_memcpy_bytes", type: "counter", total: value };
}
