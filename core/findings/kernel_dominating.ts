/** A kernel that decides the speed by itself. */

import { named } from "../quoted.ts";
import type { Finding } from "./finding.ts";
import { finding, part } from "./kernel_part.ts";
import { percent, type WorkedDevice } from "./measures.ts";

/** One kernel above this share decides the speed by itself. */
const DOMINATING_SHARE = 0.4;

/** Products, attention and communication are what models consist of: their share alone is no fault. */
const EXPECTED: ReadonlySet<string> = new Set(["gemm", "attention", "convolution", "collective"]);

/** The finding that one kernel decides the speed. */
export function dominatingKernel(devices: readonly WorkedDevice[]): Finding | null {
  const [first] = devices;
  const largest = first!.activity.kernels[0];
  if (!largest || EXPECTED.has(largest.category)) return null;
  const one = part(devices, ({ name }) => name === largest.name);
  if (one.share < DOMINATING_SHARE) return null;
  return finding(one, {
    id: "kernels/dominating",
    title: `One kernel, ${named(largest.short, 80)}, takes ${percent(one.share)} of the time`,
    gain: 0.3,
    confidence: "low",
    doubt:
      "whether it could be faster is not measured: compare its bytes and operations with the device's peaks",
    remedies: [
      largest.category === "other" || largest.library === null
        ? "a library's tuned kernel for the same operation, or tuning this one (Nsight Compute shows what limits it)"
        : "another shape, precision or version of the library for this operation",
    ],
    verify: "its mean time falls at the same number of launches for the same work",
  });
}
