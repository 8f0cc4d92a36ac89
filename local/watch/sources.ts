/** The sources of a run, one row each. */

import type { Tags } from "@service/core";
import denoJson from "../../deno.json" with { type: "json" };
import { readKey } from "../base/key.ts";
import { log } from "../base/log.ts";
import { openDevicePoller, openSegmentAsk, openSieve } from "../base/native.ts";
import { createProcFiles, oomKills } from "../base/proc_files.ts";
import { parseStat } from "../base/proc_text.ts";
import type { Target } from "../engines/targets.ts";
import { INSTANCE_VARIABLE, type Plan } from "../plan.ts";
import { holdDirectories } from "../sources/activity/directories.ts";
import { createActivitySource } from "../sources/activity/source.ts";
import { createCaptureStateSource } from "../sources/capture_state.ts";
import { NEEDLES } from "../sources/console/needles.ts";
import { type ConsoleReader, createConsoleSource } from "../sources/console/source.ts";
import { createDeviceSource } from "../sources/devices/source.ts";
import type { CpuTime } from "../sources/proc/cpu_time.ts";
import { createHostSource } from "../sources/proc/host.ts";
import { Listeners } from "../sources/prometheus/listeners.ts";
import { createProcessSource } from "../sources/proc/processes.ts";
import { createProfilerCostSource } from "../sources/profiler_cost.ts";
import { createPrometheusSource } from "../sources/prometheus/source.ts";
import type { Source } from "../sources/source.ts";
import { createScriptEnginesSource } from "./script_engines.ts";

/** A run whose workload has started. */
export interface StartedRun extends Omit<Plan, "listen"> {
  now_ns: () => bigint;
  /** The workload's first process. */
  pid: number;
  /** Processor time that the reaper had waited for at the workload's end, once that is known. */
  waited?: () => CpuTime | null;
  /** The workload's console; absent without a supervisor. */
  console?: ConsoleReader;
  /** The environment that the workload has too. */
  env: Record<string, string>;
}

/** Options of sources in addition to their run. */
export interface SourceContext {
  /** Attributes of the workload's processes. */
  attributes: Tags;
  /** Disposed of at the end of the run. */
  held: DisposableStack;
}

/** Creates the sources of one kind; none where the run has nothing for them to measure. */
type CreateSources = (run: StartedRun, context: SourceContext) => Source[];

const SOURCES: readonly CreateSources[] = [
  () => [createHostSource({ profilerVersion: denoJson.version })],
  processes,
  captureState,
  activity,
  devices,
  prometheus,
  console,
  () => [createProfilerCostSource()],
];

/** All sources of a run. */
export function createSources(run: StartedRun, context: SourceContext): Source[] {
  return SOURCES.flatMap((create) => create(run, context));
}

function processes({ id, pid, ...run }: StartedRun, { attributes }: SourceContext): Source[] {
  const marker = `${INSTANCE_VARIABLE}=${id}`;
  const reaper = { pid: run.reaper, waited: run.waited };
  return [createProcessSource({ root: pid, marker, reaper, attributes })];
}

function captureState({ missing }: StartedRun): Source[] {
  const { engine_metrics: _, ...others } = missing;
  return [createCaptureStateSource(others)];
}

function activity({ cuda }: StartedRun, { held }: SourceContext): Source[] {
  if (!cuda) return [];
  const { paths, faults } = held.use(holdDirectories(cuda.directories));
  for (const fault of faults) log(`less room for GPU activity: ${fault}`);
  const ask = openSegmentAsk(cuda.library);
  return [held.use(createActivitySource({ directories: paths, ask }))];
}

function devices({ devices, start_ns, env }: StartedRun, { held }: SourceContext): Source[] {
  if (!devices) return [];
  const { library, directories, nvml } = devices;
  const poller = openDevicePoller(library);
  const missing = (reason: string) => [
    createCaptureStateSource({ gpu_devices: reason }),
  ];
  if (!poller) return missing(`${library} cannot be opened`);
  const errno = -poller.start(directories, nvml);
  if (errno !== 0) return missing(`no room for measurements (errno ${errno})`);
  held.defer(() => poller.stop());
  const stat = parseStat(createProcFiles().text("self/stat") ?? "");
  const own = { pid: Deno.pid, start_ticks: BigInt(stat?.start_ticks ?? 0) };
  return [held.use(createDeviceSource({ directories, own, start_ns, env }))];
}

function console({ console, now_ns, sieve }: StartedRun): Source[] {
  if (!console) return [];
  const find = sieve === undefined ? null : openSieve(sieve, NEEDLES);
  return [createConsoleSource(console, { now_ns, oomKills, find: find ?? undefined })];
}

function prometheus(
  { id, pid, reaper, targets, missing, env, start_ns }: StartedRun,
): Source[] {
  const listeners = new Listeners({ root: pid, marker: `${INSTANCE_VARIABLE}=${id}` });
  const open = (
    { key, ...target }: Target,
    process: { env: Record<string, string>; among: boolean },
  ) =>
    createPrometheusSource({
      ...target,
      ...(target.own && { holder: () => listeners.holder(new URL(target.url)) }),
      key: key && (() => readKey(key, process.env)),
      among: process.among,
      start_seconds: Number(start_ns / 1_000_000n) / 1_000,
    });
  const { engine_metrics: reason } = missing;
  if (reason !== undefined) {
    return [createScriptEnginesSource({ pid, reaper, files: createProcFiles(), reason, open })];
  }
  const among = targets.length > 1;
  return targets.map((target) => open(target, { env, among }));
}
