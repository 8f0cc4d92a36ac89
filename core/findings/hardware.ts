/** Hardware: errors of devices, links below what they could be, and kernels that never end. */

import type { Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import { hang } from "./hardware_hang.ts";
import { link } from "./hardware_link.ts";
import { memoryErrors } from "./hardware_memory.ts";
import { nvlink } from "./hardware_nvlink.ts";
import { xids } from "./hardware_xid.ts";
import type { Rule } from "./rule.ts";

/** The rule. */
export const hardware: Rule = {
  id: "hardware",
  judge(facts): Judgement {
    const findings = [memoryErrors(facts), xids(facts), link(facts), nvlink(facts), hang(facts)];
    return { ...NOTHING, findings: findings.filter((one) => one !== null) };
  },
};
