/** Who an instance is: its id, and the tags that the place it runs in gives to it. */

import type { Tags } from "@service/core";
import { MAX_NAME_LENGTH, MAX_TAGS, MAX_VALUE_LENGTH } from "@service/core/limits";

/** What is known of an instance when it starts. */
export interface InstanceTagsOptions {
  id: string;
  /** The workload's environment. */
  env: Readonly<Record<string, string>>;
  hostname: string;
  /** The workload's first process. */
  pid: number;
  /** Tags given on the command line: stronger than all others. */
  tags?: Tags;
  /** Of the container that it runs in. */
  containerId?: string;
}

/** Variables that launchers set for each process of a job, and the tags that they become. */
const VARIABLES: Tags = {
  POD_UID: "pod.uid",
  POD_NAME: "pod.name",
  POD_NAMESPACE: "pod.namespace",
  RANK: "process.rank",
  LOCAL_RANK: "process.local_rank",
  WORLD_SIZE: "process.world_size",
  LOCAL_WORLD_SIZE: "process.local_world_size",
  SLURM_JOB_ID: "slurm.job_id",
  SLURM_STEP_ID: "slurm.step_id",
  SLURM_PROCID: "slurm.proc_id",
  SLURM_LOCALID: "slurm.local_id",
  SLURM_NODEID: "slurm.node_id",
};

const TAG_PREFIX = "SERVICE_TAG_";

/** Tags of an instance, strongest first: its id, those given, `SERVICE_TAG_*`, those of the place. */
export function instanceTags(options: InstanceTagsOptions): Tags {
  const { id, env, hostname, pid, tags = {}, containerId = "" } = options;
  const fromEnv = Object.entries(env).flatMap(([name, value]) =>
    name.startsWith(TAG_PREFIX) ? [[name.slice(TAG_PREFIX.length).toLowerCase(), value]] : []
  );
  const entries = [
    ["instance.id", id],
    ...Object.entries(tags),
    ...fromEnv,
    ["host.name", hostname],
    ["process.pid", String(pid)],
    ["container.id", containerId],
    ...Object.entries(VARIABLES).map(([name, tag]) => [tag, env[name] ?? ""]),
  ];
  const chosen = new Map<string, string>();
  for (const [key = "", value = ""] of entries) {
    if (key === "" || key.length > MAX_NAME_LENGTH || value === "" || chosen.has(key)) continue;
    if (chosen.size < MAX_TAGS) chosen.set(key, value.slice(0, MAX_VALUE_LENGTH));
  }
  return Object.fromEntries(chosen);
}

/**
 * The id of the container that a process runs in, by its `/proc/self/cgroup` or, where the container
 * has a cgroup namespace of its own, the files that the runtime mounts into it by
 * `/proc/self/mountinfo`; `undefined` outside of a container, or where neither tells.
 */
export function containerId(cgroup: string, mountinfo: string): string | undefined {
  return lastMatch(/(?:^|[/:-])([0-9a-f]{64})(?:\.scope)?$/gm, cgroup) ??
    lastMatch(/\/(?:overlay-)?containers\/([0-9a-f]{64})\//g, mountinfo);
}

function lastMatch(pattern: RegExp, text: string): string | undefined {
  return [...text.matchAll(pattern)].at(-1)?.[1];
}
