/** Host: processors, memory and storage that the workload has to wait for. */

import type { Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import { memory } from "./host_memory.ts";
import { oneThread } from "./host_one_thread.ts";
import { processors } from "./host_processors.ts";
import { steal } from "./host_steal.ts";
import { storage } from "./host_storage.ts";
import type { Rule } from "./rule.ts";

/** The rule. */
export const host: Rule = {
  id: "host",
  judge(facts): Judgement {
    const findings = [
      processors(facts),
      memory(facts),
      storage(facts),
      oneThread(facts),
      steal(facts),
    ];
    return { ...NOTHING, findings: findings.filter((one) => one !== null) };
  },
};
