/** Failures of an engine: requests that end without an answer. */

import type { EngineFacts } from "../facts/mod.ts";
import { BASE, metricOf, queueEvidence } from "./engine_evidence.ts";
import type { Finding } from "./finding.ts";
import { digits, percent } from "./measures.ts";

/** The finding that requests fail. */
export function failures(one: EngineFacts): Finding | null {
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
        metric: metricOf(one, "failed", "requests"),
        tags: one.tags,
        value: failed,
        unit: "requests/s",
        what: "failed or aborted",
      },
      {
        metric: metricOf(one, "requests", "request"),
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
