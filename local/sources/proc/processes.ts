/** The workload's processes: processor time, memory, threads, switches, bytes moved, descriptors. */

import { type Sum, type Tags, tsFromNs } from "@service/core";
import { addSums } from "@service/core/sum";
import { createPace } from "../pacing.ts";
import { hasEnded, parseCpu, type ProcessStat, type ProcessStatus } from "../../base/proc_text.ts";
import { createProcFiles } from "../../base/proc_files.ts";
import { processAttributes } from "./attributes.ts";
import {
  addCpuTimes,
  CpuCounters,
  type CpuTime,
  cpuTimeOfTicks,
  cpuTimeSince,
  NO_CPU_TIME,
} from "./cpu_time.ts";
import { EndedTime } from "./ended_time.ts";
import { type ProcessReading, readProcess } from "./reading.ts";
import { type Reaper, ReaperTime } from "./reaper_time.ts";
import { ProcessTree } from "./tree.ts";
import { CumulativeReadings } from "../cumulative.ts";
import type { Recorder } from "../recorder.ts";
import type { Source } from "../source.ts";

/** The workload to follow. */
export interface ProcessSourceOptions {
  /** The workload's first process. */
  root: number;
  /** The environment entry (`NAME=value`) that the workload hands down to all it starts. */
  marker: string;
  /** Waits for the workload's first process and for orphans. */
  reaper: Reaper;
  /** Further attributes of the workload's first process. */
  attributes?: Tags;
  /** The profiler's own pid: it and the processes that it starts are not measured. */
  self?: number;
  /** Folder of the kernel's files, `/proc` by default. */
  proc?: string;
  /** A clock that only goes forward, in milliseconds. */
  clock_ms?: () => number;
}

/** Threads that one sample reads, each a file of its own, shared among the processes. */
const THREADS_PER_SAMPLE = 128;
/** Largest share of one process. Threads beyond the share are read only when costly readings are. */
const MAX_THREADS = 16;
/** Costly readings of a process are taken on every tenth of its samples. */
const COSTLY_EVERY = 10;

/** Limit of processes for which a sample reads more than the CPU time; with more they take turns. */
const USAGE_PER_SAMPLE = 32;

const NO_TAGS: Tags = {};

const OWN_CPU = { user: "process_user_cpu_seconds", system: "process_system_cpu_seconds" };

const ENDED_CPU = {
  user: "process_ended_user_cpu_seconds",
  system: "process_ended_system_cpu_seconds",
};

/** Samples in which a new process is described again: it may still replace its program. */
const YOUNG_SAMPLES = 3;

/** A source that measures every process of the workload from its first sample until it ends. */
export function createProcessSource(options: ProcessSourceOptions): Source {
  const { root, marker, reaper, self = Deno.pid, proc } = options;
  const { clock_ms = () => performance.now() } = options;
  const files = createProcFiles(proc);
  const tree = new ProcessTree({ root, marker, self, reaper: reaper.pid, files });
  const reaperTime = new ReaperTime(reaper, files);
  const ended = new EndedTime();
  const endedCounters = new CpuCounters(ENDED_CPU, NO_TAGS);
  const members = new Map<number, Member>();
  const processors = parseCpu(files.text("stat") ?? "")?.count || navigator.hardwareConcurrency;
  const descriptorsCounted = (files.size("self/fd") ?? 0) > 0;

  function sampleProcess(recorder: Recorder, pid: number, { maxThreads, usageEvery }: Load): void {
    const known = members.get(pid);
    const isDue = (every: number) => !known || (known.samples + pid) % every === 0;
    const reading = readProcess(files, pid, {
      usage: isDue(usageEvery),
      costly: isDue(COSTLY_EVERY * usageEvery),
      maxThreads,
      descriptorsCounted,
    });
    const now_ms = clock_ms();
    if (!reading || (known && known.start_ticks !== reading.stat.start_ticks)) {
      forget(pid);
      tree.forget(pid);
      return;
    }
    const { stat } = reading;
    // Its waiter has the time of one that was never seen alive.
    if (!known && hasEnded(stat)) return;
    const member = known ?? newMember(pid, stat, recorder);
    members.set(pid, member);
    const { parent } = stat;
    member.isAwaited = pid === root || parent === reaper.pid || members.has(parent);
    const waited = cpuTimeOfTicks(stat.waited_user_ticks, stat.waited_system_ticks);
    ended.gained(cpuTimeSince(member.waited, waited));
    member.waited = waited;
    if (hasEnded(stat)) {
      recordLast(recorder, member, stat);
      return;
    }
    if (member.samples++ < YOUNG_SAMPLES || member.comm !== stat.comm) {
      member.comm = stat.comm;
      const attributes = {
        ...processAttributes(files, stat),
        "process.root_pid": String(root),
      };
      member.attributes = pid === root ? { ...attributes, ...options.attributes } : attributes;
    }
    recorder.resource("process", member.tags, member.attributes, member.first_seen_ts);
    recordCpu(recorder, member, { stat, now_ms, processors });
    recordUsage(recorder, member, reading);
    if (reading.threads) recordSwitches(recorder, member, reading.threads);
  }

  /** The process is gone: its waiter gains what was counted of it. */
  function forget(pid: number): void {
    const member = members.get(pid);
    if (!member) return;
    members.delete(pid);
    if (member.isAwaited) ended.gone(addCpuTimes(member.used, member.waited));
  }

  return {
    async sample(recorder) {
      const pace = createPace();
      const pids = await tree.update(pace);
      const existing = new Set(pids);
      for (const pid of members.keys()) if (!existing.has(pid)) forget(pid);
      // Waiters are read before those for which they wait: no time is counted in both.
      ended.gained(reaperTime.gained());
      const usageEvery = Math.max(1, Math.ceil(pids.length / USAGE_PER_SAMPLE));
      const share = Math.ceil(THREADS_PER_SAMPLE / Math.min(pids.length, USAGE_PER_SAMPLE));
      const load = { usageEvery, maxThreads: Math.min(MAX_THREADS, share) };
      for (const pid of pids) {
        sampleProcess(recorder, pid, load);
        await pace();
      }
      endedCounters.record(recorder, ended.settle());
    },
  };
}

/** Limits of one sample's readings, so that many processes cost little more than a few. */
interface Load {
  maxThreads: number;
  /** Usage is read on every such sample of a process. */
  usageEvery: number;
}

/** A member of the tree: a pid with a start, as another process may get the pid later. */
interface Member {
  readonly start_ticks: number;
  readonly tags: Tags;
  readonly first_seen_ts: number;
  readonly readings: CumulativeReadings;
  readonly cpu: CpuCounters;
  /** By thread id. */
  readonly threads: Map<string, CumulativeReadings>;
  samples: number;
  comm: string;
  attributes: Tags;
  /** Whether its parent is one of ours, and not a stranger that has adopted it. */
  isAwaited: boolean;
  /** Processor time of its own at its last reading. */
  used: CpuTime;
  /** Processor time of ended children that it had waited for by then. */
  waited: CpuTime;
  read_ms: number | null;
}

function newMember(pid: number, stat: ProcessStat, recorder: Recorder): Member {
  const { start_ticks, comm } = stat;
  const tags = Object.freeze({ "process.pid": String(pid) });
  return {
    start_ticks,
    tags,
    first_seen_ts: tsFromNs(recorder.now_ns),
    readings: new CumulativeReadings("increase"),
    cpu: new CpuCounters(OWN_CPU, tags),
    threads: new Map(),
    samples: 0,
    comm,
    attributes: {},
    isAwaited: true,
    used: NO_CPU_TIME,
    waited: NO_CPU_TIME,
    read_ms: null,
  };
}

interface CpuReading {
  stat: ProcessStat;
  now_ms: number;
  processors: number;
}

function recordCpu(recorder: Recorder, member: Member, reading: CpuReading): void {
  const { stat, now_ms, processors } = reading;
  const { used: before, read_ms } = member;
  recordUsed(recorder, member, stat);
  member.read_ms = now_ms;
  if (read_ms === null || now_ms <= read_ms) return;
  const { user_us, system_us } = cpuTimeSince(before, member.used);
  const possible_us = (now_ms - read_ms) * 1e3 * processors;
  const percent = ((user_us + system_us) / possible_us) * 100;
  recorder.gauge("process_cpu_usage_percent", member.tags, Math.min(100, percent));
}

/** Records the last time of a process that has ended, once. */
function recordLast(recorder: Recorder, member: Member, stat: ProcessStat): void {
  const { user_us, system_us } = cpuTimeSince(member.used, usedBy(stat));
  if (user_us + system_us > 0) recordUsed(recorder, member, stat);
}

function recordUsed(recorder: Recorder, member: Member, stat: ProcessStat): void {
  member.used = usedBy(stat);
  member.cpu.record(recorder, member.used);
}

function usedBy({ user_ticks, system_ticks }: ProcessStat): CpuTime {
  return cpuTimeOfTicks(user_ticks, system_ticks);
}

function recordUsage(recorder: Recorder, member: Member, reading: ProcessReading): void {
  const { tags, readings } = member;
  const gauge = (name: string, value: number | null = null) => {
    if (value !== null) recorder.gauge(name, tags, value);
  };
  const counter = (name: string, value: number | null = null) => {
    if (value !== null) recorder.counter(name, tags, readings.increase(name, value));
  };
  const { stat, status, io, descriptors } = reading;
  gauge("process_threads", stat.threads);
  gauge("process_memory_usage_bytes", status?.resident_bytes);
  gauge("process_memory_virtual_bytes", status?.virtual_bytes);
  gauge("process_open_descriptors", descriptors);
  counter("process_io_read_bytes", io?.read_bytes);
  counter("process_io_write_bytes", io?.write_bytes);
  counter("process_storage_read_bytes", io?.storage_read_bytes);
  counter("process_storage_write_bytes", io?.storage_write_bytes);
}

/** Adds up the switches of all threads: the process's own status has only those of its first thread. */
function recordSwitches(
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
  recorder.counter("process_context_switches_voluntary_total", member.tags, voluntary);
  recorder.counter("process_context_switches_involuntary_total", member.tags, involuntary);
}
