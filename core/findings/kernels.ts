/** Kernels: time in kernels for which a faster kind is known. */

import type { Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import { attention } from "./kernel_attention.ts";
import { dominatingKernel } from "./kernel_dominating.ts";
import { elementwise } from "./kernel_elementwise.ts";
import { oldProducts } from "./kernel_generation.ts";
import { latency } from "./kernel_latency.ts";
import { double, precision } from "./kernel_precision.ts";
import { workedDevices } from "./measures.ts";
import type { Rule } from "./rule.ts";

/** The rule. */
export const kernels: Rule = {
  id: "kernels",
  judge(facts): Judgement {
    const devices = workedDevices(facts);
    if (devices.length === 0) return NOTHING;
    const findings = [
      precision(devices),
      double(devices),
      attention(devices),
      oldProducts(devices),
      elementwise(devices),
      latency(devices),
    ]
      .filter((found) => found !== null);
    const dominating = findings.length === 0 ? dominatingKernel(devices) : null;
    return { ...NOTHING, findings: dominating ? [dominating] : findings };
  },
};
