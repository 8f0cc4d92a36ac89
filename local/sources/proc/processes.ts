/** Every process of the workload: processor time, memory, threads, switches, bytes moved, descriptors. */

import { type Sum, type Tags, tsFromNs } from "@service/core";
import { addSums } from "@service/core/sum";
import { createPauses } from "../pacing.ts";
import { parseCpu, type ProcessStat, type ProcessStatus } from "../../base/proc_text.ts";
import { createProcFiles } from "../../base/proc_files.ts";
import { processAttributes } from "./attributes.ts";
import { type ProcessReading, readProcess } from "./reading.ts";
import { ProcessTree } from "./tree.ts";
import { exactSeconds, Readings } from "../cumulative.ts";
import type { Recorder, Source } from "../recorder.ts";

/** The workload to follow. */
export interface ProcessSourceOptions {
  /** The workload's first process. */
  root: number;
  /** The environment entry (`NAME=value`) that the workload hands down to all it starts. */
  marker: string;
  /** What else describes the workload's first process. */
  attributes?: Tags;
  /** The profiler's own pid: neither it nor what it starts is measured here. */
  self?: number;
  /** Folder of the kernel's files, `/proc` by default. */
  proc?: string;
  /** A clock that only goes forward, in milliseconds. */
  clock_ms?: () => number;
}

/**
 * With more threads than its part of this many, a process has them read on every tenth sample only:
 * each is a file of its own.
 */
const THREADS_PER_SAMPLE = 128;
const MAX_THREADS = 16;
const SELDOM = 10;

/** Of more processes than this, so many a sample are read whole, in turns, and the others' CPU only. */
const WHOLE_PER_SAMPLE = 32;

/** Samples in which a process is described anew: it may still replace its program. */
const YOUNG = 3;

/** A source that measures every process of the workload from its first sample until it ends. */
export function createProcessSource(options: ProcessSourceOptions): Source {
  const { root, marker, self = Deno.pid, proc, clock_ms = () => performance.now() } = options;
  const files = createProcFiles(proc);
  const tree = new ProcessTree({ root, marker, self, files });
  const members = new Map<number, Member>();
  const processors = parseCpu(files.text("stat") ?? "")?.count || navigator.hardwareConcurrency;
  const descriptorsCounted = (files.size("self/fd") ?? 0) > 0;

  function sampleProcess(recorder: Recorder, pid: number, { maxThreads, turns }: Pace): void {
    const known = members.get(pid);
    const isTurnOf = (one: number) => !known || (known.samples + pid) % one === 0;
    const reading = readProcess(files, pid, {
      whole: isTurnOf(turns),
      all: isTurnOf(SELDOM * turns),
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
    if (member.samples++ < YOUNG || member.comm !== reading.stat.comm) {
      member.comm = reading.stat.comm;
      const attributes = processAttributes(files, reading.stat);
      member.attributes = pid === root ? { ...attributes, ...options.attributes } : attributes;
    }
    recorder.resource("process", member.tags, member.attributes, member.first_seen_ts);
    recordCpu(recorder, member, { ...reading.stat, now_ms, processors });
    recordUsage(recorder, member, reading);
    if (reading.threads) recordSwitches(recorder, member, reading.threads);
  }

  return {
    async sample(recorder) {
      const pause = createPauses();
      const pids = await tree.look(pause);
      const there = new Set(pids);
      for (const pid of members.keys()) if (!there.has(pid)) members.delete(pid);
      const turns = Math.max(1, Math.ceil(pids.length / WHOLE_PER_SAMPLE));
      const share = Math.ceil(THREADS_PER_SAMPLE / Math.min(pids.length, WHOLE_PER_SAMPLE));
      const pace = { turns, maxThreads: Math.min(MAX_THREADS, share) };
      for (const pid of pids) {
        sampleProcess(recorder, pid, pace);
        await pause();
      }
    },
  };
}

/** How much of each process one sample reads, so that many cost little more than a few. */
interface Pace {
  maxThreads: number;
  /** A process is read whole every so many samples. */
  turns: number;
}

/** A process that is followed: this pid since this start, as the pid alone may come to mean another. */
interface Member {
  readonly start_ticks: number;
  readonly tags: Tags;
  readonly first_seen_ts: number;
  readonly readings: Readings;
  /** Of each thread, by its id. */
  readonly threads: Map<string, Readings>;
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
    readings: new Readings("counts"),
    threads: new Map(),
    samples: 0,
    comm,
    attributes: {},
    cpu: null,
  };
}

/** The kernel counts processor time in these, whatever the machine. */
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

/** A process's own status has its first thread's switches alone, so they are added up by thread. */
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
    const readings = member.threads.get(id) ?? new Readings("counts");
    member.threads.set(id, readings);
    voluntary = addSums(voluntary ?? 0, readings.increase("voluntary", voluntary_switches));
    involuntary = addSums(involuntary ?? 0, readings.increase("involuntary", involuntary_switches));
  }
  if (voluntary === null || involuntary === null) return;
  recorder.counter("process_context_switches_voluntary_total", member.tags, voluntary);
  recorder.counter("process_context_switches_involuntary_total", member.tags, involuntary);
}
