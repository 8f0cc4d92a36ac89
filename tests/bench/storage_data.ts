/** Sample data of one instance for a day: 300 series, with histograms and a kernel profile. */

import {
  binIndex,
  count,
  emptyWindow,
  type Series,
  seriesKey,
  type Sum,
  type Window,
} from "@service/core";
import { addSums, difference } from "@service/core/sum";
import { SECOND_NS } from "@service/core/time";

/** Start of the day in epoch seconds: not aligned to a minute, as with real instances. */
export const START_TS = 1_790_000_003;

/** Length of a window in seconds. */
export const WINDOW_S = 10;

const FRAMES = 200;
const PIDS = 8;

/** Window number `at`; equal arguments give equal windows. */
export function dayWindow(at: number, seriesCount = 300): Window {
  const random = generator(at + 1);
  const window = emptyWindow(BigInt(START_TS + at * WINDOW_S) * SECOND_NS);
  window.to_ns = window.from_ns + BigInt(WINDOW_S) * SECOND_NS;
  for (let i = 0; i < seriesCount; i++) {
    const series = sampleSeries(i, window.to_ns, random);
    window.series.set(seriesKey(series), series);
  }
  return window;
}

/** Count of numbers that Prometheus stores for the window: 1 for a gauge or counter, 2 for a frame. */
export function samplesOf({ series }: Window): number {
  let samples = 0;
  for (const entry of series.values()) {
    if (entry.type === "profile") samples += 2 * entry.frames.size;
    else if (entry.type === "histogram") samples += 2 + bucketsOf(entry).length;
    else samples++;
  }
  return samples;
}

/** Name and count of each bucket of a histogram; of native bins only those with a count. */
export function bucketsOf(series: Series & { type: "histogram" }): [string, number][] {
  const { buckets } = series;
  if (!buckets) return [];
  if ("bins" in buckets) return [...buckets.bins].map(([bin, times]) => [`${bin}`, times]);
  return buckets.counts.map((times, i) => [`${buckets.bounds[i] ?? "+Inf"}`, times]);
}

type Random = () => number;

function sampleSeries(i: number, updated_ns: bigint, random: Random): Series {
  const tags = { "process.pid": `${4_000 + i % PIDS}`, "device.uuid": `GPU-8f3e1c52-${i >> 3}` };
  const base = { tags, updated_ns };
  if (i === 0) {
    return { ...base, name: "cuda_kernels_nanoseconds", type: "profile", frames: frames(random) };
  }
  if (i % 12 === 1) return nativeHistogram(base, random);
  if (i % 60 === 2) return prometheusHistogram(base, random);
  if (i % 2 === 0) {
    const kinds = [
      Math.floor(random() * 101),
      Math.round(random() * 7_000) / 10,
      Math.floor(random() * 8e10),
      30 + Math.floor(random() * 50),
    ];
    return { ...base, name: `gpu_gauge_${i % 8}`, type: "gauge", value: kinds[(i >> 1) % 4]! };
  }
  const total = i % 6 === 3 ? seconds(random) : Math.floor(random() * 1e8);
  return { ...base, name: `process_counter_${i % 14}_total`, type: "counter", total };
}

/** Frames of a window: 60 % of the kernels, a few of which run often. */
function frames(random: Random) {
  const all = Array.from({ length: FRAMES }, (_, f) => {
    const samples = Math.ceil(5_000 / (f + 1) * (0.5 + random()));
    const frame = { value: Math.floor(samples * (2_000 + f * 97) * (0.9 + random() / 5)), samples };
    return [
      `void cutlass::Kernel<cutlass_80_tensorop_f16_s16816gemm_${f}x128>(Params)`,
      frame,
    ] as const;
  });
  return new Map(all.filter(() => random() < 0.6));
}

type Base = Pick<Series, "tags" | "updated_ns">;

function nativeHistogram(base: Base, random: Random): Series {
  const bins = new Map<number, number>();
  let sum: Sum = 0;
  let [min, max] = [Infinity, 0];
  for (let k = 0; k < 40; k++) {
    const value = Math.floor(1_000 * 2 ** (random() * 4));
    count(bins, binIndex(value));
    sum = addSums(sum, value);
    [min, max] = [Math.min(min, value), Math.max(max, value)];
  }
  const name = "cuda_kernel_duration_nanoseconds";
  return { ...base, name, type: "histogram", count: 40, sum, min, max, buckets: { bins } };
}

const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function prometheusHistogram(base: Base, random: Random): Series {
  const counts = [...BOUNDS, 0].map(() => Math.floor(random() * 20));
  const total = counts.reduce((a, b) => a + b, 0);
  return {
    ...base,
    name: "request_duration_seconds",
    type: "histogram",
    count: total,
    sum: seconds(random),
    min: null,
    max: null,
    buckets: { bounds: BOUNDS, counts },
  };
}

/** Increase between two readings of a counter in seconds: not exact in a double. */
function seconds(random: Random): Sum {
  const before = random() * 1e5;
  return difference(before + random() * 10, before);
}

function generator(seed: number): Random {
  let state = seed * 2_654_435_761 >>> 0;
  return () => {
    state = state + 0x6d2b79f5 >>> 0;
    let t = Math.imul(state ^ state >>> 15, state | 1);
    t ^= t + Math.imul(t ^ t >>> 7, t | 61);
    return ((t ^ t >>> 14) >>> 0) / 2 ** 32;
  };
}
