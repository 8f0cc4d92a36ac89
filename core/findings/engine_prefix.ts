/** Prefix cache of an engine: prompts that are computed again although they begin alike. */

import { type EngineFacts, flagOf, type InstanceFacts } from "../facts/mod.ts";
import { BASE, firstTokenShare, prefillEvidence, promptEvidence } from "./engine_evidence.ts";
import type { Finding } from "./finding.ts";
import { digits, percent } from "./measures.ts";

/** Prompts shorter than this take a step or two: nothing to save. */
const LONG_TOKENS = 500;

/** Of a prompt's work, what a shared beginning saves where the cache is off: not known, a half at most. */
const SHARED = 0.5;

/** The finding that the prefix cache is off, while prompts take time. */
export function prefixCache(facts: InstanceFacts, one: EngineFacts): Finding | null {
  const { prompt_tokens_per_request: prompt, prefix_hit_share: hits } = one;
  const flag = offBy(facts, one);
  if (flag === null || (hits ?? 0) > 0.01 || prompt === null || prompt < LONG_TOKENS) return null;
  const share = firstTokenShare(one);
  return {
    ...BASE,
    id: "engine/prefix_cache",
    title:
      `Prefix cache off (${flag}): each prompt of ${
        digits(prompt)
      } tokens on average is computed from its first token, also where it begins like others` +
      (share === null ? "" : `; ${percent(share)} of a request's time is its prompt's work`),
    share_at_stake: share === null ? null : share * SHARED,
    confidence: "medium",
    doubt:
      "how many prompts begin alike (system prompts, conversations, documents) is not measured",
    evidence: [...promptEvidence(one), ...prefillEvidence(one)],
    remedies: [
      `start without ${flag}: what prompts share is then computed once`,
      "put what prompts share first and what differs last",
    ],
    verify: "the hit share rises above 0, and the time to first token falls at the same load",
    explains: ["engine/prefill"],
  };
}

/** The option or setting that turns the cache off; `null` where it is on or not told. */
function offBy({ workload }: InstanceFacts, { engine, configuration }: EngineFacts): string | null {
  for (const flag of ["--disable-radix-cache", "--no-enable-prefix-caching"]) {
    const given = flagOf(workload, flag);
    if (given !== undefined && !/^false$/i.test(given)) return flag;
  }
  const set = flagOf(workload, "--enable-prefix-caching") ?? configuration.enable_prefix_caching;
  if (set !== undefined && /^false$/i.test(set)) return "enable_prefix_caching=False";
  return engine === "sglang" && /^true$/i.test(configuration.disable_radix_cache ?? "")
    ? "--disable-radix-cache"
    : null;
}
