/** Products that were built for an older generation of devices. */

import type { Finding } from "./finding.ts";
import { SINGLE } from "./kernel_precision.ts";
import { builtFor, capability, finding, part, SHARE } from "./kernel_part.ts";
import { percent, type WorkedDevice } from "./measures.ts";

/** The finding that products were built for an older generation. */
export function oldProducts(devices: readonly WorkedDevice[]): Finding | null {
  const old = part(devices, ({ name, category }, device) => {
    const [built, able] = [builtFor(name), capability(device)];
    return category === "gemm" && built !== null && able !== null && able >= 90 && built < 90 &&
      !SINGLE.test(name);
  });
  if (old.share < 2 * SHARE) return null;
  const built = builtFor(old.kernels[0]!.name);
  return finding(old, {
    id: "kernels/old_generation",
    title: `${percent(old.share)} of the time is in products built for sm${built} on an sm${
      capability(devices[0]!)
    } device, which leaves newer tensor instructions unused`,
    gain: 0.35,
    confidence: "medium",
    doubt: "for small or odd shapes libraries choose older kernels since they are faster",
    remedies: [
      "newer CUDA libraries (cuBLAS 12 and later has nvjet kernels), or a framework built for this device",
      "shapes that are multiples of 64 or 128",
    ],
    verify: "kernels named nvjet, sm90 or gmma take over, and their mean time falls",
  });
}
