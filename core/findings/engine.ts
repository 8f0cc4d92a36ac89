/**
 * Engines: what holds requests back. Waiting is queueing only if it agrees with Little's law: requests
 * that wait are arrivals a second times the time in the queue.
 */

import type { EngineFacts, InstanceFacts } from "../facts/mod.ts";
import { batchLimit } from "./engine_batch.ts";
import { cacheFull } from "./engine_cache.ts";
import { requests } from "./engine_evidence.ts";
import { failures } from "./engine_failures.ts";
import { eager } from "./engine_graphs.ts";
import { noLoad } from "./engine_load.ts";
import { overload } from "./engine_overload.ts";
import { prefill } from "./engine_prefill.ts";
import { prefixCache } from "./engine_prefix.ts";
import { speculation } from "./engine_speculation.ts";
import type { Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import type { Rule } from "./rule.ts";

/** Preemptions a second from which on work is thrown away again and again. */
const PREEMPTIONS_PER_SECOND = 0.02;

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
    prefixCache(facts, one),
    prefill(facts, one),
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
