/** Batch of an engine: requests that wait although the cache has room, because a limit holds the batch. */

import type { EngineFacts, InstanceFacts } from "../facts/mod.ts";
import {
  BASE,
  betweenEvidence,
  cacheEvidence,
  certainty,
  queuedShare,
  queueEvidence,
  requests,
  WAITING,
} from "./engine_evidence.ts";
import type { Finding } from "./finding.ts";
import { digits, percent } from "./measures.ts";

/** A batch that is this near to its limit is at it. */
const AT_LIMIT = 0.9;

/** The finding that a limit holds the batch while requests wait. */
export function batchLimit(_facts: InstanceFacts, one: EngineFacts): Finding | null {
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
      `Batch limit: ${digits(running.mean)} requests run, never more, ${
        max_running === null ? `as if held by ${flag}` : `held by ${flag} ${max_running}`
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
      ...betweenEvidence(one),
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
