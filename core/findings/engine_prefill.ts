/** Prefill of an engine: requests whose time is mostly their prompt's work, not their answer's. */

import type { EngineFacts, InstanceFacts } from "../facts/mod.ts";
import { BASE, firstTokenShare, prefillEvidence, promptEvidence } from "./engine_evidence.ts";
import type { Finding } from "./finding.ts";
import { busyShare, digits, mean, percent, workedDevices } from "./measures.ts";

/** Share of a request's time before its first token, queue left out, from which on it decides. */
const PREFILL_SHARE = 0.35;

/** A first token that comes sooner than this is fast for people and machines. */
const SLOW_SECONDS = 0.5;

/** Devices are this busy at least while prompts take the time. */
const BUSY = 0.7;

/** The finding that time to first token, without queueing, is most of a request's time. */
export function prefill(facts: InstanceFacts, one: EngineFacts): Finding | null {
  const { first_token, queue, between_tokens, prompt_tokens_per_request: prompt } = one;
  const share = firstTokenShare(one);
  if (share === null || share < PREFILL_SHARE || !first_token || prompt === null) return null;
  const seconds = first_token.mean_seconds - (queue?.mean_seconds ?? 0);
  const devices = workedDevices(facts);
  const isWorking = devices.length === 0 || mean(devices.map(busyShare)) >= BUSY;
  // Prompts keep devices busy: where these idle, requests wait somewhere else.
  if (seconds < SLOW_SECONDS || !isWorking) return null;
  return {
    ...BASE,
    id: "engine/prefill",
    title:
      `Prompts take the time: the first token comes ${digits(seconds)} s after the queue, ${
        percent(share)
      } of a request's time, for prompts of ${digits(prompt)} tokens on average` +
      (between_tokens
        ? `; further tokens come every ${digits(1000 * between_tokens.mean_seconds)} ms`
        : ""),
    share_at_stake: share * 0.5,
    confidence: "medium",
    doubt:
      "long prompts are what was asked for: less work for them is a trade, not a repair; what is at stake assumes half of it",
    evidence: [...prefillEvidence(one), ...promptEvidence(one)],
    remedies: [
      "less to compute: share beginnings of prompts and see that the prefix cache hits, shorten prompts",
      "chunked prefill with a larger budget of tokens a step where the time to first token matters, a smaller one where the time between tokens does",
      "prefill on other devices than decode (disaggregation), more devices for the model, or FP8",
    ],
    verify:
      "time to first token falls at the same lengths of prompts; watch the time between tokens",
    explains: ["kernels/dominating"],
  };
}
