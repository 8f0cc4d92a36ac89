/** Queue of an engine: requests that wait though neither the cache nor a limit holds the batch. */

import type { EngineFacts, InstanceFacts } from "../facts/mod.ts";
import {
  BASE,
  cacheEvidence,
  certainty,
  queuedShare,
  queueEvidence,
  requests,
  WAITING,
} from "./engine_evidence.ts";
import type { Finding } from "./finding.ts";
import { busyOf, busyShare, digits, mean, workedDevices } from "./measures.ts";

/** The finding that more requests arrive than finish, by no limit that is told. */
export function overload(facts: InstanceFacts, one: EngineFacts): Finding | null {
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
      ...(busy === null ? [] : [busyOf(busy, "share of the time with work")]),
    ],
    remedies: [
      "another replica, or a faster device or smaller model",
      "what makes each step shorter: see the other findings",
    ],
    verify: "waiting requests fall to 0 at the same arrivals a second",
    explains: [],
  };
}
