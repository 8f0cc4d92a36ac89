/** Verdicts: the answer in one sentence, before any detail. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { NotKnown, Sound } from "./finding.ts";
import type { FoldedFinding } from "./fold.ts";

/** The answer in one sentence. */
export interface Verdict {
  /** Whether something limits, nothing stands out, the data does not tell, or there was no work. */
  kind: "limited" | "nothing_stands_out" | "cannot_tell" | "no_load";
  /** The sentence. */
  sentence: string;
}

/** A finding that costs less is told, and is no limit. */
const WORTH = 0.03;

/** The verdict on what rules said. */
export function verdictOf(
  all: readonly InstanceFacts[],
  { findings, not_known, sound }: {
    findings: readonly FoldedFinding[];
    not_known: readonly NotKnown[];
    sound: readonly Sound[];
  },
): Verdict {
  if (all.length === 0) return { kind: "cannot_tell", sentence: "Cannot tell: no instance ran." };
  const [first] = findings;
  if (first?.id === "no_load") return { kind: "no_load", sentence: first.title };
  const limit = findings.find((one) => (one.share_at_stake ?? 1) >= WORTH);
  if (limit) return { kind: "limited", sentence: limit.title };
  const decisive = not_known.filter(({ is_decisive }) => is_decisive);
  if (decisive.length > 0) {
    return {
      kind: "cannot_tell",
      sentence: `Cannot tell, because ${decisive.map(({ missing }) => missing).join("; ")}.`,
    };
  }
  const words = sound.map(({ sentence }) => sentence);
  return {
    kind: "nothing_stands_out",
    sentence: words.length > 0 ? `Nothing stands out: ${words.join("; ")}` : "Nothing stands out",
  };
}
