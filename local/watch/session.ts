/** One run as its watcher sees it: what is measured, where it is uploaded to, and its last word. */

import type { Tags } from "@service/core";
import denoJson from "../../deno.json" with { type: "json" };
import { createCaptureStateSource } from "../sources/capture_state.ts";
import { log } from "../base/log.ts";
import { createActivitySource } from "../sources/activity/source.ts";
import { type ConsoleReader, createConsoleSource } from "../sources/console/source.ts";
import { readKey } from "../base/key.ts";
import { createHostSource } from "../sources/proc/host.ts";
import { containerId, instanceTags } from "./instance_tags.ts";
import type { Listener } from "../serve/listener.ts";
import { openSegmentAsk } from "../base/native.ts";
import { INSTANCE_VARIABLE, type Plan } from "../plan.ts";
import { oomKills } from "../base/proc_files.ts";
import { createProcessSource } from "../sources/proc/processes.ts";
import { createPrometheusSource } from "../sources/prometheus/source.ts";
import { holdDirectories } from "../sources/activity/directories.ts";
import { createProfilerCostSource } from "../sources/profiler_cost.ts";
import { stateDirectory } from "../base/directories.ts";
import { saveSnapshot } from "./last_snapshot.ts";
import { readText } from "../base/files.ts";
import { startUpload } from "../upload/spools.ts";
import { startWatcher, type Watcher } from "./loop.ts";

type Environment = Record<string, string>;

/** What a watcher has to know of its run. */
export interface SessionOptions extends Omit<Plan, "listen"> {
  now_ns: () => bigint;
  /** The workload's first process. */
  pid: number;
  /** Where the workload's console can be read; absent where there is no supervisor to show it. */
  console?: ConsoleReader;
  env: Environment;
  listener: Listener;
}

/** A watched run. */
export interface Session {
  /** Measures and uploads a last time, and leaves the last snapshot. */
  finish(): Promise<void>;
}

/** Watches a run; where that cannot be, says so, and the workload runs without. */
export function startSession(options: SessionOptions): Session {
  const { id, env, listener } = options;
  const held = new DisposableStack();
  let watcher: Watcher | undefined;
  try {
    watcher = watch(options, held);
    if (env.SERVICE_DEBUG === "1") log(`instance ${id}, signals at ${listener.url()}/signals`);
  } catch (error) {
    log(`no profile, the workload runs without: ${error}`);
  }
  return {
    async finish() {
      await finish(watcher, id, env);
      held.dispose();
    },
  };
}

function watch(options: SessionOptions, held: DisposableStack): Watcher {
  const { id, start_ns, now_ns, pid, commandLine, changes, tags, env, listener } = options;
  const { version } = denoJson;
  const context = instanceTags({
    id,
    env,
    hostname: Deno.hostname(),
    pid,
    tags,
    containerId: containerId(
      readText("/proc/self/cgroup") ?? "",
      readText("/proc/self/mountinfo") ?? "",
    ),
  });
  const { cuda } = options;
  const directories = held.use(holdDirectories(cuda?.directories ?? []));
  const ask = cuda ? openSegmentAsk(cuda.library) : null;
  for (const fault of directories.faults) log(`less room for GPU activity: ${fault}`);
  const changed: Tags = {
    ...(changes.length > 0 && { "profiler.command_change": changes.join("; ") }),
    ...(cuda?.next !== undefined && { "profiler.cuda_next": cuda.next }),
  };
  const among = options.targets.length > 1;
  const start_seconds = Number(start_ns / 1_000_000n) / 1_000;
  return startWatcher({
    start_ns,
    now_ns,
    version,
    context,
    attributes: { "process.command_line": commandLine, ...changed },
    sources: [
      createHostSource({ profilerVersion: version }),
      createProcessSource({ root: pid, marker: `${INSTANCE_VARIABLE}=${id}`, attributes: changed }),
      createCaptureStateSource({
        captured: options.console ? ["console_errors"] : [],
        missing: options.missing,
      }),
      ...(cuda ? [held.use(createActivitySource({ directories: directories.paths, ask }))] : []),
      ...options.targets.map(({ key, ...target }) =>
        createPrometheusSource({
          ...target,
          key: key && readKey(key, env),
          among,
          start_seconds,
        })
      ),
      ...(options.console ? [createConsoleSource(options.console, { now_ns, oomKills })] : []),
      createProfilerCostSource(),
    ],
    listener,
    upload: uploadTo(env, id),
    complain: log,
  });
}

function uploadTo(env: Environment, instance_id: string) {
  const { SERVICE_API_KEY: key, SERVICE_API_BASE: base } = env;
  if (!key) return undefined;
  return (complain: (why: string) => void) => {
    if (base === undefined || !/^https?:$/.test(URL.parse(base)?.protocol ?? "")) {
      const got = JSON.stringify(base ?? "");
      throw new Error(`SERVICE_API_BASE must be the http(s) URL of the service: got ${got}`);
    }
    const spools = `${stateDirectory(env)}/spool`;
    return startUpload({ base, key, spools, instance_id, complain });
  };
}

async function finish(watcher: Watcher | undefined, instance_id: string, env: Environment) {
  try {
    const snapshot = await watcher?.finish();
    if (snapshot === undefined) return;
    const file = env.SERVICE_SNAPSHOT_FILE || undefined;
    await saveSnapshot(snapshot, { directory: stateDirectory(env), instance_id, file });
  } catch (error) {
    log(`the last snapshot is lost: ${error}`);
  }
}
