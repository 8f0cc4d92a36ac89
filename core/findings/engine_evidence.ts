/** Evidence of engines: their numbers under their own names, and whether these agree. */

import type { EngineFacts, EngineField } from "../facts/mod.ts";
import type { Evidence, Finding } from "./finding.ts";

/** Requests that wait on average from which on it is a queue. */
export const WAITING = 1;

/** Name of the metric that a number of an engine is of; of several fields the first that was found. */
export function metricOf({ engine, metrics }: EngineFacts, ...fields: EngineField[]): string {
  for (const field of fields) {
    const name = metrics[field];
    if (name !== undefined) return name;
  }
  return `${engine} ${fields[0]}`;
}

/** Requests that run, or that wait. */
export function requests(one: EngineFacts, what: "running" | "waiting"): Evidence {
  return {
    metric: metricOf(one, what),
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
        metric: metricOf(one, "queue"),
        tags: one.tags,
        value: one.queue.mean_seconds,
        unit: "s",
        what: "time in the queue, mean",
      }]
      : []),
    ...(one.first_token
      ? [{
        metric: metricOf(one, "first_token"),
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
      metric: metricOf(one, "cache_use"),
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
    metric: metricOf(one, "preemptions"),
    tags: one.tags,
    value: one.preemptions_per_second,
    unit: "requests/s",
    what: "preempted: their work is done again",
  }];
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

/** Time between tokens. */
export function betweenEvidence(one: EngineFacts): Evidence[] {
  return one.between_tokens === null ? [] : [{
    metric: metricOf(one, "between_tokens"),
    tags: one.tags,
    value: 1000 * one.between_tokens.mean_seconds,
    unit: "ms",
    what: "time between tokens, mean",
  }];
}

/** Time to first token beside the time between tokens and of whole requests. */
export function prefillEvidence(one: EngineFacts): Evidence[] {
  return [
    ...queueEvidence(one),
    ...betweenEvidence(one),
    ...(one.request
      ? [{
        metric: metricOf(one, "request"),
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
      metric: metricOf(one, "prompt_tokens"),
      tags: one.tags,
      value: one.prompt_tokens_per_request,
      unit: "tokens",
      what: "prompt of a request, mean",
    }]),
    ...(one.prefix_hit_share === null ? [] : [{
      metric: metricOf(one, "prefix_hits", "prefix_hit_share"),
      tags: one.tags,
      value: 100 * one.prefix_hit_share,
      unit: "%",
      what: "prompt tokens found in the prefix cache",
    }]),
  ];
}
