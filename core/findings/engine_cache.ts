/** KV cache of an engine: requests that wait or are thrown out because it is full. */

import { named } from "../quoted.ts";
import { type EngineFacts, flagOf, type InstanceFacts } from "../facts/mod.ts";
import {
  BASE,
  cacheEvidence,
  certainty,
  preemptionEvidence,
  queuedShare,
  queueEvidence,
  requests,
  WAITING,
} from "./engine_evidence.ts";
import type { Finding } from "./finding.ts";
import { digits, percent } from "./measures.ts";

/** A cache above this share is full: what is left is less than one long request. */
const FULL = 0.93;

/** Nobody is preempted before it is full: between preemptions it is less. */
const FULL_BEFORE_PREEMPTION = 0.8;

/** Preemptions a second from which on work is thrown away again and again. */
const PREEMPTIONS_PER_SECOND = 0.02;

/** Memory that is free beyond this share could be cache. */
const FREE_SHARE = 0.15;

/** The finding that the KV cache is full and requests wait or are preempted. */
export function cacheFull(facts: InstanceFacts, one: EngineFacts): Finding | null {
  const { cache_use, waiting, preemptions_per_second } = one;
  const preempts = (preemptions_per_second ?? 0) >= PREEMPTIONS_PER_SECOND;
  const full = preempts ? FULL_BEFORE_PREEMPTION : FULL;
  if (!cache_use || cache_use.mean < full || (!preempts && (waiting?.mean ?? 0) < WAITING)) {
    return null;
  }
  const free = freeMemory(facts);
  const setting = flagOf(facts.workload, "--gpu-memory-utilization", "--mem-fraction-static") ??
    one.configuration.gpu_memory_utilization;
  const flag = one.engine === "sglang" ? "--mem-fraction-static" : "--gpu-memory-utilization";
  const hasRoom = free !== null && free.share >= FREE_SHARE;
  return {
    ...BASE,
    ...certainty(one),
    id: "engine/cache_full",
    title: `KV cache full (${percent(cache_use.mean)})` +
      (preempts
        ? `: ${digits(preemptions_per_second!)} requests a second are preempted and done again`
        : "") +
      (waiting && waiting.mean >= WAITING
        ? `${preempts ? "," : ":"} ${digits(waiting.mean)} wait`
        : "") +
      (one.queue ? ` ${digits(one.queue.mean_seconds)} s in the queue` : "") +
      (hasRoom
        ? `, while ${digits(free.bytes / 1e9)} GB of each device are unused${
          setting ? ` (${flag} ${named(setting, 40)})` : ""
        }`
        : ""),
    share_at_stake: queuedShare(one),
    evidence: [
      ...cacheEvidence(one),
      ...preemptionEvidence(one),
      requests(one, "waiting"),
      ...queueEvidence(one),
      ...(free
        ? [{
          metric: "gpu_memory_used_bytes",
          tags: {},
          value: free.bytes / 1e9,
          unit: "GB",
          what: "device memory that nobody uses, of each device",
        }]
        : []),
    ],
    remedies: [
      ...(hasRoom
        ? [
          `raise ${flag}${
            setting ? ` above ${named(setting, 40)}` : ""
          }: the free memory becomes cache`,
        ]
        : []),
      "a smaller data type for the cache (--kv-cache-dtype fp8)",
      "another replica or more devices for the model; smaller weights leave room for cache",
      "fewer requests at once, or a lower limit of context, so that none is preempted",
    ],
    verify:
      "cache use falls below 90 %, preemptions stop and the time in the queue falls at the same load",
    explains: ["engine/overload", "gpu_idle/unexplained"],
  };
}

/** Memory of each device that nobody uses: the least of all. */
function freeMemory({ devices }: InstanceFacts): { bytes: number; share: number } | null {
  const free = devices.flatMap(({ memory_total_bytes, memory_used_bytes, activity }) =>
    activity !== null && memory_total_bytes !== null && memory_used_bytes !== null
      ? [{
        bytes: memory_total_bytes - memory_used_bytes.max,
        share: 1 - memory_used_bytes.max / memory_total_bytes,
      }]
      : []
  );
  return free.toSorted((a, b) => a.bytes - b.bytes)[0] ?? null;
}
