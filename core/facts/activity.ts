/** Activity of a device: the work of all processes of the run on it, by kernel, graph, copy and wait. */

import type { FrameSum } from "../series/mod.ts";
import { rounded } from "../sum.ts";
import type { Activity, CopyWork, KernelWork, Work } from "./device_facts.ts";
import type { KernelLabel } from "./kernel_label.ts";
import type { Reading } from "./reading.ts";

/** Frames that stand for many. */
const UNNAMED: ReadonlySet<string> = new Set(["(other)", "(not shown)"]);
const NS = 1e-9;

/** What the run did on the device of `uuid`; `null` without any record of it. */
export function activityOf(
  reading: Reading,
  uuid: string,
  labelOf: (symbol: string) => KernelLabel,
): Activity | null {
  const of = { "device.uuid": uuid };
  const source = reading.series("rocm_kernels_nanoseconds", of).length > 0 ? "rocm" : "cuda";
  const busy = reading.series("gpu_busy_nanoseconds", of).flatMap((series) =>
    series.type === "counter" ? [rounded(series.total) * NS] : []
  );
  const kernels = workOf(reading, `${source}_kernels_nanoseconds`, uuid);
  const graphs = workOf(reading, `${source}_graphs_nanoseconds`, uuid);
  const copies = workOf(reading, `${source}_memcpy_nanoseconds`, uuid);
  if (busy.length === 0 && kernels.length === 0 && graphs.length === 0 && copies.length === 0) {
    return null;
  }
  const pids = pidsOf(reading, source, uuid);
  const mode = modeOf(reading, pids);
  return {
    source,
    pids,
    captured_seconds: reading.seconds,
    busy_seconds: Math.min(reading.seconds, Math.max(0, ...busy)),
    busy_at_most_seconds: Math.min(reading.seconds, busy.reduce((sum, one) => sum + one, 0)),
    graph_trace_mode: mode,
    kernels: kernels.filter(({ name }) => !UNNAMED.has(name)).map((work): KernelWork => ({
      ...work,
      ...labelOf(work.name),
    })),
    unnamed_kernel_seconds: kernels.filter(({ name }) => UNNAMED.has(name))
      .reduce((sum, { seconds }) => sum + seconds, 0),
    graphs,
    copies: copies.map((work) => bytesOf(work, reading, `${source}_memcpy_bytes`, uuid)),
    sets: workOf(reading, `${source}_memset_nanoseconds`, uuid)
      .map((work) => bytesOf(work, reading, `${source}_memset_bytes`, uuid)),
    waits: workOf(reading, `${source}_sync_nanoseconds`, uuid),
    kernel_durations: reading.durations(`${source}_kernel_duration_nanoseconds`, of, NS),
    lost_records: lostOf(reading, source, pids),
  };
}

/** The frames of all processes on the device, largest first. */
function workOf(reading: Reading, name: string, uuid: string): Work[] {
  const frames = new Map<string, FrameSum & { value: number }>();
  for (const series of reading.series(name, { "device.uuid": uuid })) {
    if (series.type !== "profile") continue;
    for (const [frame, { value, samples }] of series.frames) {
      const known = frames.get(frame);
      if (known) {
        known.value += rounded(value);
        known.samples += samples;
      } else frames.set(frame, { value: rounded(value), samples });
    }
  }
  return Array.from(
    frames,
    ([frame, { value, samples }]) => ({ name: frame, seconds: value * NS, times: samples }),
  ).sort((a, b) => b.seconds - a.seconds || (a.name < b.name ? -1 : 1));
}

function bytesOf(work: Work, reading: Reading, metric: string, uuid: string): CopyWork {
  return { ...work, bytes: reading.total(metric, { "device.uuid": uuid, kind: work.name }) };
}

function pidsOf(reading: Reading, source: string, uuid: string): string[] {
  const pids = new Set<string>();
  for (const metric of ["gpu_busy_nanoseconds", `${source}_kernels_nanoseconds`]) {
    for (const { tags } of reading.series(metric, { "device.uuid": uuid })) {
      if (tags["process.pid"] !== undefined) pids.add(tags["process.pid"]);
    }
  }
  return [...pids].sort();
}

/** The graph mode of processes that agree in it; `null` where they differ or none tells. */
function modeOf(reading: Reading, pids: readonly string[]): Activity["graph_trace_mode"] {
  const modes = new Set(
    pids.map((pid) => reading.newest("cuda_graph_trace_mode", { "process.pid": pid })),
  );
  modes.delete(null);
  const [mode] = modes;
  return modes.size === 1 && (mode === 0 || mode === 1) ? mode : null;
}

function lostOf(reading: Reading, source: string, pids: readonly string[]): number {
  let lost = 0;
  for (const pid of pids) {
    for (const kind of ["dropped", "invalid"]) {
      lost += reading.total(`${source}_${kind}_records_total`, { "process.pid": pid }) ?? 0;
    }
  }
  return lost;
}
