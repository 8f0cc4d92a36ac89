/** Elementwise kernels that could be fused into fewer. */

import type { Finding } from "./finding.ts";
import { finding, part, SHARE } from "./kernel_part.ts";
import { computeSeconds, mean, percent, type WorkedDevice } from "./measures.ts";

/** Elementwise work up to this share is what models have between their products. */
const ELEMENTWISE_SHARE = 0.25;

/** Memory traffic that fusing saves of a chain of elementwise kernels: three of four reads and writes. */
const FUSED_GAIN = 0.6;

/** The finding that unfused elementwise kernels take the time. */
export function elementwise(devices: readonly WorkedDevice[]): Finding | null {
  const plain = part(
    devices,
    ({ category, library }) =>
      ["elementwise", "reduction", "normalization", "softmax"].includes(category) &&
      library === "ATen",
  );
  const share = plain.share /
    Math.max(
      1e-9,
      mean(devices.map((device) => computeSeconds(device) / device.activity.captured_seconds)),
    );
  if (share < ELEMENTWISE_SHARE || plain.share < SHARE) return null;
  return finding(plain, {
    id: "kernels/elementwise",
    title: `Unfused: ${
      percent(plain.share)
    } of the time is in elementwise and reduction kernels of PyTorch, each of which reads and writes memory once`,
    gain: FUSED_GAIN,
    confidence: "medium",
    doubt: "",
    remedies: [
      "torch.compile: chains of elementwise kernels become one",
      "fused versions: F.scaled_dot_product_attention, fused optimizers (fused=True), fused layer norm, Liger or Apex kernels",
    ],
    verify:
      "launches a second and the elementwise share fall; triton_ kernels appear with torch.compile",
  });
}
