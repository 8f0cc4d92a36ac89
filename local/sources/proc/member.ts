/** A process of the workload: what is known of it, and how its readings are recorded. */

import { type Sum, type Tags, tsFromNs } from "@service/core";
import { addSums } from "@service/core/sum";
import type { ProcessStat, ProcessStatus } from "../../base/proc_text.ts";
import { CumulativeReadings } from "../cumulative.ts";
import type { Recorder } from "../recorder.ts";
import { type CpuTime, cpuTimeOfTicks, cpuTimeSince, NO_CPU_TIME } from "./cpu_time.ts";
import type { ProcessSeries } from "./process_series.ts";
import type { ProcessReading } from "./reading.ts";

/** A member of the tree: a pid with a start, as another process may get the pid later. */
export interface Member {
  readonly pid: number;
  readonly start_ticks: number;
  readonly first_seen_ts: number;
  readonly readings: CumulativeReadings;
  /** By thread id. */
  readonly threads: Map<string, CumulativeReadings>;
  /** Gauges as they were last read. */
  readonly gauges: Map<string, number>;
  /** Its own, or those of its command. */
  series: ProcessSeries;
  samples: number;
  comm: string;
  attributes: Tags | null;
  /** Whether its parent is one of ours, and not a stranger that has adopted it. */
  isAwaited: boolean;
  /** Processor time of its own at its last reading. */
  used: CpuTime;
  /** Processor time of ended children that it had waited for by then. */
  waited: CpuTime;
  /** Processor time between its last two readings. */
  spent_us: number;
  read_ms: number | null;
}

/** A process that was found now. */
export function newMember(
  { pid, start_ticks, comm }: ProcessStat,
  { series, now_ns }: { series: ProcessSeries; now_ns: bigint },
): Member {
  return {
    pid,
    start_ticks,
    first_seen_ts: tsFromNs(now_ns),
    readings: new CumulativeReadings("increase"),
    threads: new Map(),
    gauges: new Map(),
    series,
    samples: 0,
    comm,
    attributes: null,
    isAwaited: true,
    used: NO_CPU_TIME,
    waited: NO_CPU_TIME,
    spent_us: 0,
    read_ms: null,
  };
}

/** A reading of processor time. */
export interface CpuReading {
  stat: ProcessStat;
  now_ms: number;
  processors: number;
}

/** Adds the processor time since the last reading; answers whether there is any. */
export function recordCpu(member: Member, { stat, now_ms, processors }: CpuReading): boolean {
  const { series, used, read_ms } = member;
  member.used = cpuTimeOfTicks(stat.user_ticks, stat.system_ticks);
  member.read_ms = now_ms;
  const spent = cpuTimeSince(used, member.used);
  const spent_us = spent.user_us + spent.system_us;
  series.cpu(spent);
  // The start of a program says nothing about what it will do.
  member.spent_us = read_ms === null ? 0 : spent_us;
  if (read_ms !== null && now_ms > read_ms) {
    const possible_us = (now_ms - read_ms) * 1e3 * processors;
    series.gauge("process_cpu_usage_percent", Math.min(100, (spent_us / possible_us) * 100));
  }
  return spent_us > 0;
}

/** Records memory, descriptors, threads and bytes moved, as far as they were read. */
export function recordUsage(recorder: Recorder, member: Member, reading: ProcessReading): void {
  const { series, readings, gauges } = member;
  const { stat, status, io, descriptors } = reading;
  const gauge = (name: string, value: number | null = null) => {
    if (value === null) return;
    gauges.set(name, value);
    if (series.isOwn) series.gauge(name, value);
  };
  const counter = (name: string, value: number | null = null) => {
    if (value !== null) recorder.counter(name, series.tags, readings.increase(name, value));
  };
  gauge("process_threads", stat.threads);
  gauge("process_memory_usage_bytes", status?.resident_bytes);
  gauge("process_memory_virtual_bytes", status?.virtual_bytes);
  gauge("process_open_descriptors", descriptors);
  counter("process_io_read_bytes", io?.read_bytes);
  counter("process_io_write_bytes", io?.write_bytes);
  counter("process_storage_read_bytes", io?.storage_read_bytes);
  counter("process_storage_write_bytes", io?.storage_write_bytes);
  if (series.isOwn) return;
  // A sum is of all processes, whichever of them were read this time.
  for (const [name, value] of gauges) series.gauge(name, value);
  series.gauge("process_count", 1);
}

/** Adds up the switches of all threads: the process's own status has only those of its first thread. */
export function recordSwitches(
  recorder: Recorder,
  member: Member,
  threads: ReadonlyMap<string, ProcessStatus>,
): void {
  for (const id of member.threads.keys()) if (!threads.has(id)) member.threads.delete(id);
  let voluntary: Sum | null = null;
  let involuntary: Sum | null = null;
  for (const [id, { voluntary_switches, involuntary_switches }] of threads) {
    if (voluntary_switches === null || involuntary_switches === null) continue;
    const readings = member.threads.get(id) ?? new CumulativeReadings("increase");
    member.threads.set(id, readings);
    voluntary = addSums(voluntary ?? 0, readings.increase("voluntary", voluntary_switches));
    involuntary = addSums(involuntary ?? 0, readings.increase("involuntary", involuntary_switches));
  }
  if (voluntary === null || involuntary === null) return;
  recorder.counter("process_context_switches_voluntary_total", member.series.tags, voluntary);
  recorder.counter("process_context_switches_involuntary_total", member.series.tags, involuntary);
}
