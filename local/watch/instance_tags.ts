/** Tags of an instance: its id, those given by the user, and those of the place that it runs in. */

import type { Tags } from "@service/core";
import { MAX_NAME_LENGTH, MAX_TAGS, MAX_VALUE_LENGTH } from "@service/core/limits";
import { rankTags } from "../base/ranks.ts";

/** Facts of an instance when it starts. */
export interface InstanceTagsOptions {
  id: string;
  /** The workload's environment. */
  env: Readonly<Record<string, string>>;
  hostname: string;
  /** The workload's first process. */
  pid: number;
  /** Tags given on the command line; they win over all others but the id. */
  tags?: Tags;
  /** Of the container that it runs in. */
  containerId?: string;
}

/** Variables of a pod, and the tags that they become. */
const VARIABLES: Tags = {
  POD_UID: "pod.uid",
  POD_NAME: "pod.name",
  POD_NAMESPACE: "pod.namespace",
};

const TAG_PREFIX = "SERVICE_TAG_";

/** Tags that every instance has, however many others there are. */
const ALWAYS = ["instance.id", "host.name", "process.pid"];

/** Tags of an instance; of equal keys the first wins: the id, tags given, `SERVICE_TAG_*`, the place. */
export function instanceTags(options: InstanceTagsOptions): Tags {
  const { id, env, hostname, pid, tags = {}, containerId = "" } = options;
  const fromEnv = Object.entries(env).flatMap(([name, value]) =>
    name.startsWith(TAG_PREFIX) ? [[name.slice(TAG_PREFIX.length).toLowerCase(), value]] : []
  );
  const found = [
    ...fromEnv,
    ["host.name", hostname],
    ["process.pid", String(pid)],
    ["container.id", containerId],
    ...Object.entries(VARIABLES).map(([name, tag]) => [tag, env[name] ?? ""]),
    ...Object.entries(rankTags(env)),
  ];
  const entries = [
    ["instance.id", id],
    ...Object.entries(tags),
    // An empty variable counts as not set.
    ...found.filter(([, value]) => value !== ""),
  ];
  const chosen = new Map<string, string>();
  for (const [key = "", value = ""] of entries) {
    if (key === "" || key.length > MAX_NAME_LENGTH || chosen.has(key)) continue;
    chosen.set(key, value.slice(0, MAX_VALUE_LENGTH));
  }
  const keys = [...ALWAYS.filter((key) => chosen.has(key)), ...chosen.keys()];
  const kept = [...new Set(keys)].slice(0, MAX_TAGS);
  return Object.fromEntries(kept.map((key) => [key, chosen.get(key)!]));
}
