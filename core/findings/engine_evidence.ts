/** Evidence of engines: their numbers under their own names, and whether these agree. */

import type { EngineFacts } from "../facts/mod.ts";
import type { Evidence, Finding } from "./finding.ts";

/** Requests that wait on average from which on it is a queue. */
export const WAITING = 1;

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

/** Requests that run, or that wait. */
export function requests(one: EngineFacts, what: "running" | "waiting"): Evidence {
  return {
    metric: named(one, what),
    tags: one.tags,
    value: one[what]?.mean ?? 0,
    unit: "requests",
    what: `requests ${what === "running" ? "worked on" : "waiting"}, mean`,
  };
}

/** Time in the queue and to the first token. */
export function queueEvidence(one: EngineFacts): Evidence[] {
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

/** Use of the KV cache. */
export function cacheEvidence(one: EngineFacts): Evidence[] {
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

/** Preemptions a second. */
export function preemptionEvidence(one: EngineFacts): Evidence[] {
  return one.preemptions_per_second === null ? [] : [{
    metric: named(one, "preemptions"),
    tags: one.tags,
    value: one.preemptions_per_second,
    unit: "requests/s",
    what: "preempted: their work is done again",
  }];
}

/** Prefix of an engine's metrics. */
export function prefix({ engine }: EngineFacts): string {
  return engine === "tgi" ? "tgi_" : `${engine.replace(".", "")}:`;
}

/** Share of a request's time in the queue; by Little's law where no histogram tells it. */
export function queuedShare(one: EngineFacts): number | null {
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

/** How sure a finding about a queue is, by Little's law. */
export function certainty(one: EngineFacts): Pick<Finding, "confidence" | "doubt"> {
  return agrees(one) === false
    ? {
      confidence: "medium",
      doubt:
        "waiting requests and time in the queue do not agree (Little's law): the load changed within the span",
    }
    : { confidence: "high", doubt: "" };
}

/** What findings about engines have in common. */
export const BASE = { class: "engine" as const, where: "", explains: [] as string[] };

/** Share of a request's time before its first token, without the queue; `null` where it is not known. */
export function firstTokenShare({ first_token, queue, request }: EngineFacts): number | null {
  if (!first_token || !request || request.mean_seconds <= 0) return null;
  const seconds = first_token.mean_seconds - (queue?.mean_seconds ?? 0);
  return Math.min(1, Math.max(0, seconds / request.mean_seconds));
}

/** Time to first token beside the time between tokens and of whole requests. */
export function prefillEvidence(one: EngineFacts): Evidence[] {
  return [
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
    ...(one.request
      ? [{
        metric: `${prefix(one)}e2e_request_latency_seconds`,
        tags: one.tags,
        value: one.request.mean_seconds,
        unit: "s",
        what: "whole request, mean",
      }]
      : []),
  ];
}

/** Length of prompts, and what the prefix cache spares of them. */
export function promptEvidence(one: EngineFacts): Evidence[] {
  return [
    ...(one.prompt_tokens_per_request === null ? [] : [{
      metric: `${prefix(one)}prompt_tokens_total`,
      tags: one.tags,
      value: one.prompt_tokens_per_request,
      unit: "tokens",
      what: "prompt of a request, mean",
    }]),
    ...(one.prefix_hit_share === null ? [] : [{
      metric: `${prefix(one)}prefix_cache_hits_total`,
      tags: one.tags,
      value: 100 * one.prefix_hit_share,
      unit: "%",
      what: "prompt tokens found in the prefix cache",
    }]),
  ];
}
