/** The workload's processes: processor time, memory, threads, switches, bytes moved, descriptors. */

import type { Tags } from "@service/core";
import { createPace } from "../pacing.ts";
import { hasEnded, parseCpu, type ProcessStat } from "../../base/proc_text.ts";
import { createProcFiles } from "../../base/proc_files.ts";
import { processAttributes } from "./attributes.ts";
import { BusiestProcesses } from "./busiest.ts";
import { addCpuTimes, CpuCounters, cpuTimeOfTicks, cpuTimeSince } from "./cpu_time.ts";
import { EndedTime } from "./ended_time.ts";
import { type Member, newMember, recordCpu, recordSwitches, recordUsage } from "./member.ts";
import { CommandSeries, ownSeries, type ProcessSeries } from "./process_series.ts";
import { readProcess } from "./reading.ts";
import { type Reaper, ReaperTime } from "./reaper_time.ts";
import { ProcessTree } from "./tree.ts";
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
  const busiest = new BusiestProcesses();
  const commands = new CommandSeries();
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
    const member = known ?? newMember(stat, { series: seriesOf(stat), now_ns: recorder.now_ns });
    members.set(pid, member);
    if (!member.series.isOwn) member.series = commands.of(stat.comm);
    const { parent } = stat;
    member.isAwaited = pid === root || parent === reaper.pid || members.has(parent);
    const waited = cpuTimeOfTicks(stat.waited_user_ticks, stat.waited_system_ticks);
    ended.gained(cpuTimeSince(member.waited, waited));
    member.waited = waited;
    const hasSpent = recordCpu(member, { stat, now_ms, processors });
    if (!hasEnded(stat)) {
      recordUsage(recorder, member, reading);
      if (reading.threads) recordSwitches(recorder, member, reading.threads);
      if (member.series.isOwn) describe(recorder, member, stat);
      member.samples++;
    } else if (!hasSpent) return;
    if (member.series.isOwn) member.series.record(recorder);
  }

  /** Series for a new process. */
  function seriesOf({ pid, comm }: ProcessStat): ProcessSeries {
    return busiest.admit() ? ownSeries(pid) : commands.of(comm);
  }

  /** Publishes a process among the resources. */
  function describe(recorder: Recorder, member: Member, stat: ProcessStat): void {
    const { pid, comm } = stat;
    if (!member.attributes || member.samples < YOUNG_SAMPLES || member.comm !== comm) {
      member.comm = comm;
      const attributes = { ...processAttributes(files, stat), "process.root_pid": String(root) };
      member.attributes = pid === root ? { ...attributes, ...options.attributes } : attributes;
    }
    const { series: { tags }, attributes, first_seen_ts } = member;
    recorder.resource("process", tags, attributes, first_seen_ts);
  }

  /** The process is gone: its waiter gains what was counted of it. */
  function forget(pid: number): void {
    const member = members.get(pid);
    if (!member) return;
    members.delete(pid);
    if (member.series.isOwn) busiest.ended();
    if (member.isAwaited) ended.gone(addCpuTimes(member.used, member.waited));
  }

  return {
    async sample(recorder) {
      const pace = createPace();
      const pids = await tree.update(pace);
      const existing = new Set(pids);
      for (const pid of members.keys()) if (!existing.has(pid)) forget(pid);
      for (const member of busiest.choose([...members.values()])) {
        member.series = ownSeries(member.pid);
      }
      // Waiters are read before those for which they wait: no time is counted in both.
      ended.gained(reaperTime.gained());
      const usageEvery = Math.max(1, Math.ceil(pids.length / USAGE_PER_SAMPLE));
      const share = Math.ceil(THREADS_PER_SAMPLE / Math.min(pids.length, USAGE_PER_SAMPLE));
      const load = { usageEvery, maxThreads: Math.min(MAX_THREADS, share) };
      for (const pid of pids) {
        sampleProcess(recorder, pid, load);
        await pace();
      }
      commands.record(recorder);
      endedCounters.add(ended.settle());
      endedCounters.record(recorder);
    },
  };
}

/** Limits of one sample's readings, so that many processes cost little more than a few. */
interface Load {
  maxThreads: number;
  /** Usage is read on every such sample of a process. */
  usageEvery: number;
}
