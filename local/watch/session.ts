/** One watched run: its sources, its upload and its last snapshot. */

import type { Tags } from "@service/core";
import denoJson from "../../deno.json" with { type: "json" };
import { stateDirectory } from "../base/directories.ts";
import { errorText, log } from "../base/log.ts";
import { waitFor } from "../base/patience.ts";
import { createProcFiles } from "../base/proc_files.ts";
import { type EndpointFile, listEndpoint } from "../serve/endpoint_file.ts";
import type { Listener } from "../serve/listener.ts";
import { containerId } from "../sources/proc/container.ts";
import { keyInFile } from "../upload/key.ts";
import { Uploader } from "../upload/spools.ts";
import { instanceTags } from "./instance_tags.ts";
import { saveSnapshot } from "./last_snapshot.ts";
import { startWatcher, type Watcher, type WatcherOptions } from "./loop.ts";
import { createSources, type StartedRun } from "./sources.ts";

/** A started run, and the listener that serves it. */
export interface SessionOptions extends StartedRun {
  listener: Listener;
}

/** A watched run. */
export interface Session {
  /** Reads at once what the workload takes with it: it gets a signal that may end it. */
  hurry(): void;
  /** Measures and uploads a last time, and writes the last snapshot; the workload ended at `ended_ns`. */
  finish(ended_ns?: bigint): Promise<void>;
}

/** How long the end of the run waits for a file: on a disk that does not answer it must end all the same. */
const SAVING_MS = 1_000;

/** Watches a run; if that fails, logs the reason, and the workload runs without a profile. */
export function startSession(options: SessionOptions): Session {
  const { id, env, listener } = options;
  const held = new DisposableStack();
  let watcher: Watcher | undefined;
  let listed: Promise<EndpointFile | null> | undefined;
  try {
    const context = contextOf(options);
    watcher = watch(options, { context, held });
    listed = list(options, context);
    if (listener.notice !== null) log(listener.notice);
    if (env.SERVICE_DEBUG === "1") log(`instance ${id}, signals at ${listener.url ?? ""}/signals`);
  } catch (error) {
    log(`no profile, the workload runs without one: ${error}`);
  }
  return {
    hurry: () => watcher?.hurry(),
    async finish(ended_ns) {
      if (watcher) await finish(watcher, { ...options, ended_ns });
      if (listed) await waitFor(listed.then((file) => file?.remove()), SAVING_MS);
      held.dispose();
    },
  };
}

/** Tags of the instance. */
function contextOf({ id, env, pid, tags }: StartedRun): Tags {
  return instanceTags({
    id,
    env,
    hostname: Deno.hostname(),
    pid,
    tags,
    containerId: containerId(createProcFiles()),
  });
}

/** Lists the endpoint for others on this host; without a list the run goes on. */
async function list(
  { listener: { url, notice }, env, start_ns }: SessionOptions,
  context: Tags,
): Promise<EndpointFile | null> {
  if (url === null) return null;
  const directory = `${stateDirectory(env)}/endpoints`;
  try {
    const host = Deno.hostname();
    return await listEndpoint(directory, { url, host, pid: Deno.pid, start_ns, context });
  } catch (error) {
    // At the port that was asked for it is found without a list.
    if (notice !== null) log(`${url} is not listed in ${directory}: ${errorText(error)}`);
    return null;
  }
}

function watch(
  options: SessionOptions,
  { context, held }: { context: Tags; held: DisposableStack },
): Watcher {
  const { start_ns, now_ns, commandLine, env, listener } = options;
  const attributes = changesOf(options);
  return startWatcher({
    start_ns,
    now_ns,
    version: denoJson.version,
    context,
    attributes: { "process.command_line": commandLine, ...attributes },
    sources: createSources(options, { attributes, held }),
    listener,
    runs: env.SERVICE_RUN_FILES === "0" ? undefined : `${stateDirectory(env)}/runs`,
    upload: uploadOf(options),
    log,
  });
}

/** Attributes for the changes that were made to the command and to its environment. */
function changesOf({ changes, cuda }: StartedRun): Tags {
  return {
    ...(changes.length > 0 && { "profiler.command_change": changes.join("; ") }),
    ...(cuda?.next !== undefined && { "profiler.cuda_next": cuda.next }),
  };
}

function uploadOf({ env }: StartedRun): WatcherOptions["upload"] {
  const { SERVICE_API_KEY: key, SERVICE_API_KEY_FILE: file, SERVICE_API_BASE: base } = env;
  if (!key && !file) return undefined;
  return (instance, warn) => {
    if (key && file) {
      throw new Error("SERVICE_API_KEY and SERVICE_API_KEY_FILE are both set: unset one of them");
    }
    if (base === undefined || !/^https?:$/.test(URL.parse(base)?.protocol ?? "")) {
      const got = JSON.stringify(base ?? "");
      throw new Error(`SERVICE_API_BASE must be the http(s) URL of the service: got ${got}`);
    }
    const spools = `${stateDirectory(env)}/spool`;
    const readKey = file ? keyInFile(file) : () => Promise.resolve(key!);
    return new Uploader({ base, key: readKey, spools, instance, warn });
  };
}

async function finish(
  watcher: Watcher,
  { id, env, ended_ns }: StartedRun & { ended_ns?: bigint },
): Promise<void> {
  try {
    const snapshot = await watcher.finish(ended_ns);
    const file = env.SERVICE_SNAPSHOT_FILE || undefined;
    const saving = saveSnapshot(snapshot, {
      directory: stateDirectory(env),
      instance_id: id,
      file,
    });
    await waitFor(saving, SAVING_MS);
  } catch (error) {
    log(`the last snapshot is lost: ${error}`);
  }
}
