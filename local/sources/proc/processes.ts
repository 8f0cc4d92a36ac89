/** The workload's processes: processor time, memory, threads, switches, bytes moved, descriptors. */

import { type Sum, type Tags, tsFromNs } from "@service/core";
import { addSums } from "@service/core/sum";
import { createPace } from "../pacing.ts";
import { parseCpu, type ProcessStat, type ProcessStatus } from "../../base/proc_text.ts";
import { createProcFiles } from "../../base/proc_files.ts";
import { processAttributes } from "./attributes.ts";
import { type ProcessReading, readProcess } from "./reading.ts";
import { ProcessTree } from "./tree.ts";
import { CumulativeReadings, exactSeconds } from "../cumulative.ts";
import type { Recorder } from "../recorder.ts";
import type { Source } from "../source.ts";

/** The workload to follow. */
export interface ProcessSourceOptions {
  /** The workload's first process. */
  root: number;
  /** The environment entry (`NAME=value`) that the workload hands down to all it starts. */
  marker: string;
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

/** Samples in which a new process is described again: it may still replace its program. */
const YOUNG_SAMPLES = 3;

/** A source that measures every process of the workload from its first sample until it ends. */
export function createProcessSource(options: ProcessSourceOptions): Source {
  const { root, marker, self = Deno.pid, proc, clock_ms = () => performance.now() } = options;
  const files = createProcFiles(proc);
  const tree = new ProcessTree({ root, marker, self, files });
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
      members.delete(pid);
      tree.forget(pid);
      return;
    }
    const member = known ?? newMember(pid, reading.stat, recorder);
    members.set(pid, member);
    if (member.samples++ < YOUNG_SAMPLES || member.comm !== reading.stat.comm) {
      member.comm = reading.stat.comm;
      const attributes = {
        ...processAttributes(files, reading.stat),
        "process.root_pid": String(root),
      };
      member.attributes = pid === root ? { ...attributes, ...options.attributes } : attributes;
    }
    recorder.resource("process", member.tags, member.attributes, member.first_seen_ts);
    recordCpu(recorder, member, { ...reading.stat, now_ms, processors });
    recordUsage(recorder, member, reading);
    if (reading.threads) recordSwitches(recorder, member, reading.threads);
  }

  return {
    async sample(recorder) {
      const pace = createPace();
      const pids = await tree.update(pace);
      const existing = new Set(pids);
      for (const pid of members.keys()) if (!existing.has(pid)) members.delete(pid);
      const usageEvery = Math.max(1, Math.ceil(pids.length / USAGE_PER_SAMPLE));
      const share = Math.ceil(THREADS_PER_SAMPLE / Math.min(pids.length, USAGE_PER_SAMPLE));
      const load = { usageEvery, maxThreads: Math.min(MAX_THREADS, share) };
      for (const pid of pids) {
        sampleProcess(recorder, pid, load);
        await pace();
      }
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
  /** By thread id. */
  readonly threads: Map<string, CumulativeReadings>;
  samples: number;
  comm: string;
  attributes: Tags;
  cpu: { ticks: number; at_ms: number } | null;
}

function newMember(pid: number, { start_ticks, comm }: ProcessStat, recorder: Recorder): Member {
  return {
    start_ticks,
    tags: Object.freeze({ "process.pid": String(pid) }),
    first_seen_ts: tsFromNs(recorder.now_ns),
    readings: new CumulativeReadings("increase"),
    threads: new Map(),
    samples: 0,
    comm,
    attributes: {},
    cpu: null,
  };
}

/** The kernel's unit of processor time, the same on every machine. */
const TICKS_PER_SECOND = 100;

interface CpuReading {
  user_ticks: number;
  system_ticks: number;
  now_ms: number;
  processors: number;
}

function recordCpu(recorder: Recorder, member: Member, reading: CpuReading): void {
  const { user_ticks, system_ticks, now_ms, processors } = reading;
  const { tags, readings, cpu } = member;
  const user = readings.increase("user", exactSeconds(user_ticks / TICKS_PER_SECOND));
  const system = readings.increase("system", exactSeconds(system_ticks / TICKS_PER_SECOND));
  recorder.counter("process_user_cpu_seconds", tags, user);
  recorder.counter("process_system_cpu_seconds", tags, system);
  const ticks = user_ticks + system_ticks;
  member.cpu = { ticks, at_ms: now_ms };
  if (cpu === null || now_ms <= cpu.at_ms) return;
  const possible = ((now_ms - cpu.at_ms) / 1000) * TICKS_PER_SECOND * processors;
  const percent = ((ticks - cpu.ticks) / possible) * 100;
  recorder.gauge("process_cpu_usage_percent", tags, Math.min(100, percent));
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
