/** Memory of devices: how much room is left, and what of it an allocator holds without use. */

import type { InstanceFacts } from "../facts/mod.ts";
import { type Judgement, NOTHING } from "./finding.ts";
import { workedDevices } from "./measures.ts";
import type { Rule } from "./rule.ts";

/** Above this share the next larger batch does not fit, and fragments count. */
const NEARLY_FULL = 0.9;

/** The rule. Engines take nearly all memory for their cache at once: of them it says nothing. */
export const deviceMemory: Rule = {
  id: "device_memory",
  judge(facts): Judgement {
    if (facts.engines.length > 0 || !isNearlyFull(facts)) return NOTHING;
    return {
      ...NOTHING,
      not_known: [{
        rule: "device_memory",
        missing:
          "how much of the full device memory the framework's allocator holds without use, and how often it must free and ask again: not captured",
        how:
          "torch.cuda.memory_summary(): reserved against allocated memory, and num_alloc_retries",
        is_decisive: false,
      }],
    };
  },
};

function isNearlyFull(facts: InstanceFacts): boolean {
  return workedDevices(facts).some(({ memory_used_bytes: used, memory_total_bytes: total }) =>
    used !== null && total !== null && total > 0 && used.max / total >= NEARLY_FULL
  );
}
