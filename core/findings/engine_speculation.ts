/** Speculation of an engine: proposed tokens that are thrown away. */

import type { EngineFacts } from "../facts/mod.ts";
import { BASE, metricOf, requests } from "./engine_evidence.ts";
import type { Finding } from "./finding.ts";
import { digits, percent } from "./measures.ts";

/** Acceptance below which proposing costs more than it saves, for drafts of some tokens. */
const ACCEPTED = 0.35;

/** The finding that most proposed tokens are thrown away. */
export function speculation(one: EngineFacts): Finding | null {
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
        metric: metricOf(one, "accepted", "accepted_share"),
        tags: one.tags,
        value: 100 * accepted_share,
        unit: "%",
        what: "accepted of the proposed tokens",
      },
      ...(tokens_per_step
        ? [{
          metric: metricOf(one, "drafts", "accepted_length"),
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
