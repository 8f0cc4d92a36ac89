/**
 * Engines: what holds requests back. Waiting is queueing only if it agrees with Little's law: requests
 * that wait are arrivals a second times the time in the queue.
 */

import { type EngineFacts, flagOf, type InstanceFacts } from "../facts/mod.ts";
import type { Evidence, Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import { busyShare, digits, mean, percent, workedDevices } from "./measures.ts";
import type { Rule } from "./rule.ts";

/** Requests that wait on average from which on it is a queue. */
const WAITING = 1;
/** A cache above this share is full: what is left is less than one long request. */
const FULL = 0.93;
/** Preemptions a second from which on work is thrown away again and again. */
const PREEMPTIONS_PER_SECOND = 0.02;
/** Memory that is free beyond this share could be cache. */
const FREE_SHARE = 0.15;
/** A batch that is this near to its limit is at it. */
const AT_LIMIT = 0.97;
/** Acceptance below which proposing costs more than it saves, for drafts of some tokens. */
const ACCEPTED = 0.35;

/** The rule. */
export const engine: Rule = {
  id: "engine",
  judge(facts): Judgement {
    const all = facts.engines.map((one) => judgeEngine(facts, one));
    return {
      findings: all.flatMap(({ findings }) => findings),
      not_known: all.flatMap(({ not_known }) => not_known),
      sound: all.flatMap(({ sound }) => sound),
    };
  },
};

function judgeEngine(facts: InstanceFacts, one: EngineFacts): Judgement {
  const idle = noLoad(facts, one);
  if (idle) return { ...NOTHING, findings: [idle] };
  const found = [
    cacheFull(facts, one) ?? batchLimit(facts, one) ?? overload(facts, one),
    eager(facts, one),
    failures(one),
    speculation(one),
  ]
    .filter((finding) => finding !== null);
  const isFree = one.waiting !== null && one.waiting.mean < 0.5 &&
    (one.preemptions_per_second ?? 0) < PREEMPTIONS_PER_SECOND;
  const sound = isFree && found.length === 0
    ? [{
      rule: "engine",
      sentence: "no request waits and none is preempted",
      evidence: [requests(one, "running"), requests(one, "waiting")],
    }]
    : [];
  return { ...NOTHING, findings: found, sound };
}

/** Metrics of an engine by what they are, as its own names. */
function named(
  { engine }: EngineFacts,
  what: "running" | "waiting" | "cache" | "preemptions" | "queue",
): string {
  const names: Readonly<Record<string, Record<string, string>>> = {
    vllm: {
      running: "vllm:num_requests_running",
      waiting: "vllm:num_requests_waiting",
      cache: "vllm:kv_cache_usage_perc",
      preemptions: "vllm:num_preemptions_total",
      queue: "vllm:request_queue_time_seconds",
    },
    sglang: {
      running: "sglang:num_running_reqs",
      waiting: "sglang:num_queue_reqs",
      cache: "sglang:token_usage",
      preemptions: "sglang:num_retractions_total",
      queue: "sglang:queue_time_seconds",
    },
    "llama.cpp": {
      running: "llamacpp:requests_processing",
      waiting: "llamacpp:requests_deferred",
      cache: "llamacpp:kv_cache_usage_ratio",
    },
    tgi: {
      running: "tgi_batch_current_size",
      waiting: "tgi_queue_size",
      queue: "tgi_request_queue_duration",
    },
  };
  return names[engine]?.[what] ?? `${engine}:${what}`;
}

function requests(one: EngineFacts, what: "running" | "waiting"): Evidence {
  return {
    metric: named(one, what),
    tags: one.tags,
    value: one[what]?.mean ?? 0,
    unit: "requests",
    what: `requests ${what === "running" ? "worked on" : "waiting"}, mean`,
  };
}

function queueEvidence(one: EngineFacts): Evidence[] {
  return [
    ...(one.queue
      ? [{
        metric: named(one, "queue"),
        tags: one.tags,
        value: one.queue.mean_seconds,
        unit: "s",
        what: "time in the queue, mean",
      }]
      : []),
    ...(one.first_token
      ? [{
        metric: `${prefix(one)}time_to_first_token_seconds`,
        tags: one.tags,
        value: one.first_token.mean_seconds,
        unit: "s",
        what: "time to first token, mean",
      }]
      : []),
  ];
}

function cacheEvidence(one: EngineFacts): Evidence[] {
  return one.cache_use
    ? [{
      metric: named(one, "cache"),
      tags: one.tags,
      value: 100 * one.cache_use.mean,
      unit: "%",
      what: "KV cache in use, mean",
    }]
    : [];
}

function preemptionEvidence(one: EngineFacts): Evidence[] {
  return one.preemptions_per_second === null ? [] : [{
    metric: named(one, "preemptions"),
    tags: one.tags,
    value: one.preemptions_per_second,
    unit: "requests/s",
    what: "preempted: their work is done again",
  }];
}

function prefix({ engine }: EngineFacts): string {
  return engine === "tgi" ? "tgi_" : `${engine.replace(".", "")}:`;
}

/** Share of a request's time in the queue; by Little's law where no histogram tells it. */
function queuedShare(one: EngineFacts): number | null {
  const { queue, request, waiting, running } = one;
  if (queue && request && request.mean_seconds > 0) {
    return Math.min(1, queue.mean_seconds / request.mean_seconds);
  }
  if (waiting && running && waiting.mean + running.mean > 0) {
    return waiting.mean / (waiting.mean + running.mean);
  }
  return null;
}

/** Whether waiting requests are arrivals times queueing, within a factor of three; `null` if not known. */
function agrees({ waiting, queue, requests_per_second }: EngineFacts): boolean | null {
  if (!waiting || !queue || !requests_per_second) return null;
  const expected = requests_per_second * queue.mean_seconds;
  return expected > waiting.mean / 3 && expected < waiting.mean * 3 + 1;
}

function certainty(one: EngineFacts): Pick<Finding, "confidence" | "doubt"> {
  return agrees(one) === false
    ? {
      confidence: "medium",
      doubt:
        "waiting requests and time in the queue do not agree (Little's law): the load changed within the span",
    }
    : { confidence: "high", doubt: "" };
}

const BASE = { class: "engine" as const, where: "", explains: [] as string[] };

function noLoad(facts: InstanceFacts, one: EngineFacts): Finding | null {
  const { running, waiting, requests_per_second } = one;
  if (!running || running.mean >= 0.05 || (waiting?.mean ?? 0) >= 0.05) return null;
  const devices = workedDevices(facts);
  if (devices.length > 0 && mean(devices.map(busyShare)) > 0.05) return null;
  return {
    ...BASE,
    id: "no_load",
    title: `No load: the engine worked on ${
      digits(running.mean)
    } requests on average, and none waited`,
    share_at_stake: null,
    confidence: "high",
    doubt: "",
    evidence: [
      requests(one, "running"),
      requests(one, "waiting"),
      {
        metric: `${prefix(one)}requests`,
        tags: one.tags,
        value: requests_per_second ?? 0,
        unit: "requests/s",
        what: "requests that finished",
      },
    ],
    remedies: ["measure again under the load that matters"],
    verify: "requests that run are above 0 while it is measured",
    explains: [
      "gpu_idle/unexplained",
      "gpu_idle/host_bound",
      "gpu_idle/sync_bound",
      "host_cpu/one_thread",
    ],
  };
}

function cacheFull(facts: InstanceFacts, one: EngineFacts): Finding | null {
  const { cache_use, waiting, preemptions_per_second } = one;
  const preempts = (preemptions_per_second ?? 0) >= PREEMPTIONS_PER_SECOND;
  if (!cache_use || cache_use.mean < FULL || (!preempts && (waiting?.mean ?? 0) < WAITING)) {
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
          setting ? ` (${flag} ${setting})` : ""
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
        ? [`raise ${flag}${setting ? ` above ${setting}` : ""}: the free memory becomes cache`]
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

function batchLimit(_facts: InstanceFacts, one: EngineFacts): Finding | null {
  const { running, waiting, cache_use, max_running } = one;
  if (!running || !waiting || waiting.mean < WAITING || running.mean < 1) return null;
  if (cache_use && cache_use.mean >= 0.9) return null;
  const limit = max_running ??
    (running.max - running.min <= 0.02 * running.max ? running.max : null);
  if (limit === null || running.mean < AT_LIMIT * limit) return null;
  const flag = one.engine === "sglang"
    ? "--max-running-requests"
    : one.engine === "llama.cpp"
    ? "--parallel"
    : "--max-num-seqs";
  return {
    ...BASE,
    ...certainty(one),
    ...(max_running === null
      ? {
        confidence: "medium" as const,
        doubt: "the limit is concluded from a number of running requests that never changes",
      }
      : {}),
    id: "engine/batch_limit",
    title:
      `Batch limit: ${digits(running.mean)} requests run, never more, held by ${flag}${
        max_running === null ? "" : ` ${max_running}`
      }, ` +
      `while ${digits(waiting.mean)} wait${
        one.queue ? ` ${digits(one.queue.mean_seconds)} s` : ""
      }` +
      (cache_use ? ` and the KV cache is ${percent(cache_use.mean)} full` : ""),
    share_at_stake: queuedShare(one),
    evidence: [
      requests(one, "running"),
      requests(one, "waiting"),
      ...cacheEvidence(one),
      ...queueEvidence(one),
      ...(one.between_tokens
        ? [{
          metric: `${prefix(one)}inter_token_latency_seconds`,
          tags: one.tags,
          value: 1000 * one.between_tokens.mean_seconds,
          unit: "ms",
          what: "time between tokens, mean",
        }]
        : []),
    ],
    remedies: [
      `raise ${flag}: the cache has room${
        cache_use && cache_use.mean > 0
          ? ` for about ${digits(0.9 / cache_use.mean)} times as many requests`
          : ""
      }`,
      "raise the limit of batched tokens and the sizes of captured graphs with it",
    ],
    verify:
      "running requests rise above the old limit, waiting ones and time in the queue fall; watch time between tokens",
    explains: ["engine/overload"],
  };
}

function overload(facts: InstanceFacts, one: EngineFacts): Finding | null {
  const { waiting, running } = one;
  if (!waiting || waiting.mean < WAITING || !running) return null;
  const share = queuedShare(one);
  if (share !== null && share < 0.1) return null;
  const devices = workedDevices(facts);
  const busy = devices.length > 0 ? mean(devices.map(busyShare)) : null;
  return {
    ...BASE,
    ...certainty(one),
    id: "engine/overload",
    title:
      `Queueing: ${digits(waiting.mean)} requests wait${
        one.queue ? ` ${digits(one.queue.mean_seconds)} s` : ""
      } beside ${digits(running.mean)} that run: ` +
      "more arrive than the engine can finish",
    share_at_stake: share,
    confidence: "medium",
    doubt:
      "which limit holds the running requests back is not told: neither the cache nor a limit of the batch",
    evidence: [
      requests(one, "running"),
      requests(one, "waiting"),
      ...queueEvidence(one),
      ...cacheEvidence(one),
      ...(busy === null ? [] : [{
        metric: "gpu_busy_nanoseconds",
        tags: {},
        value: 100 * busy,
        unit: "%",
        what: "share of the time with work",
      }]),
    ],
    remedies: [
      "another replica, or a faster device or smaller model",
      "what makes each step shorter: see the other findings",
    ],
    verify: "waiting requests fall to 0 at the same arrivals a second",
    explains: [],
  };
}

function eager(facts: InstanceFacts, one: EngineFacts): Finding | null {
  if (one.uses_graphs !== false) return null;
  const devices = workedDevices(facts);
  const idle = devices.length > 0 ? 1 - mean(devices.map(busyShare)) : null;
  const flag = facts.workload.flags.find(([name]) => /eager|disable-cuda-graph/.test(name))?.[0];
  return {
    ...BASE,
    id: "engine/graphs_off",
    title:
      `CUDA graphs are off${
        flag ? ` (${flag})` : ""
      }: each decode step launches its kernels one by one` +
      (idle === null ? "" : `, and the GPU is idle ${percent(idle)} of the time`),
    share_at_stake: idle === null ? null : 0.9 * idle,
    confidence: idle !== null && idle > 0.15 ? "high" : "medium",
    doubt: "",
    evidence: [
      {
        metric: "cuda_graphs_nanoseconds",
        tags: {},
        value: devices.reduce((sum, { activity }) => sum + activity.graphs.length, 0),
        unit: "graphs",
        what: "graphs that ran",
      },
      ...(idle === null ? [] : [{
        metric: "gpu_busy_nanoseconds",
        tags: {},
        value: 100 * (1 - idle),
        unit: "%",
        what: "share of the time with work",
      }]),
      requests(one, "running"),
    ],
    remedies: [`start without ${flag ?? "the option that disables graphs"}, if memory allows`],
    verify:
      "cuda_graphs_nanoseconds has frames, time between tokens falls and the busy share rises",
    explains: [
      "gpu_idle/launch_bound",
      "gpu_idle/host_bound",
      "gpu_idle/sync_bound",
      "gpu_idle/unexplained",
      "small_kernels",
    ],
  };
}

function failures(one: EngineFacts): Finding | null {
  const { failed_requests_per_second: failed, requests_per_second: all } = one;
  if (!failed || !all || failed / all < 0.05) return null;
  return {
    ...BASE,
    class: "error",
    id: "engine/failed_requests",
    title: `${percent(failed / all)} of the requests failed or were aborted: ${
      digits(failed)
    } a second`,
    share_at_stake: failed / all,
    confidence: "medium",
    doubt: "clients that give up are counted as aborted",
    evidence: [
      {
        metric: `${prefix(one)}requests`,
        tags: one.tags,
        value: failed,
        unit: "requests/s",
        what: "failed or aborted",
      },
      {
        metric: `${prefix(one)}requests`,
        tags: one.tags,
        value: all,
        unit: "requests/s",
        what: "finished in any way",
      },
      ...queueEvidence(one),
    ],
    remedies: ["look at errors; where clients give up, shorten the queue"],
    verify: "the share of failed requests falls",
    explains: [],
  };
}

function speculation(one: EngineFacts): Finding | null {
  const { accepted_share, tokens_per_step } = one;
  if (accepted_share === null || accepted_share >= ACCEPTED) return null;
  return {
    ...BASE,
    id: "engine/speculation",
    title: `Speculation: ${percent(accepted_share)} of the proposed tokens are accepted${
      tokens_per_step ? `, ${digits(tokens_per_step)} tokens a step` : ""
    }: most of the drafting is thrown away`,
    share_at_stake: null,
    confidence: "medium",
    doubt: "with free compute, at small batches, rejected tokens cost little",
    evidence: [
      {
        metric: `${prefix(one)}spec_decode_num_accepted_tokens_total`,
        tags: one.tags,
        value: 100 * accepted_share,
        unit: "%",
        what: "accepted of the proposed tokens",
      },
      ...(tokens_per_step
        ? [{
          metric: `${prefix(one)}spec_decode_num_drafts_total`,
          tags: one.tags,
          value: tokens_per_step,
          unit: "tokens",
          what: "tokens of a step",
        }]
        : []),
      requests(one, "running"),
    ],
    remedies: [
      "propose fewer tokens, or a draft model trained for this one; turn speculation off under high load",
    ],
    verify: "time between tokens with and without it at the same load",
    explains: [],
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
