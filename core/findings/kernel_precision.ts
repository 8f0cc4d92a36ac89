/** Precision of kernels: 32-bit products beside tensor cores that nothing uses. */

import type { Finding } from "./finding.ts";
import { capability, finding, part, SHARE } from "./kernel_part.ts";
import { digits, percent, type WorkedDevice } from "./measures.ts";

/** Products in 32-bit on plain cores: cuBLAS and CUTLASS call them sgemm and simt, cuDNN scudnn. */
export const SINGLE =
  /(?:^|[^a-z])(?:s?gemm_(?:fp32|f32)_(?!.*tf32)|[a-z]+_sgemm|sgemm|simt_s|scudnn|implicit_convolve_sgemm)/i;

const TENSOR =
  /tf32|s1688|s16816|h1688|h16816|tensorop|xmma_.*(?:bf16|f16|tf32)|nvjet|wgmma|tcgen05/i;

/** The finding that products run in 32 bits beside unused tensor cores. */
export function precision(devices: readonly WorkedDevice[]): Finding | null {
  const able = devices.filter((device) => (capability(device) ?? 0) >= 80);
  if (able.length === 0) return null;
  const single = part(
    able,
    ({ name, category }) =>
      (category === "gemm" || category === "convolution" || category === "other") &&
      SINGLE.test(name) && !TENSOR.test(name),
  );
  if (single.share < SHARE) return null;
  const teraflops = able[0]!.peaks?.teraflops ?? {};
  const ratio = teraflops.fp32 && teraflops.tf32 ? teraflops.tf32 / teraflops.fp32 : 4;
  return finding(single, {
    id: "kernels/precision",
    title:
      `Precision: ${
        percent(single.share)
      } of the time is in 32-bit products on the plain cores, while the tensor cores, ` +
      `${digits(ratio)} times as fast in TF32, are not used for them`,
    // Half of the ratio of peaks is what products of usual sizes reach.
    gain: 1 - 1 / Math.max(2, ratio / 2),
    confidence: "high",
    doubt: "",
    remedies: [
      'bf16 with torch.autocast("cuda", dtype=torch.bfloat16), or the trainer\'s bf16 option',
      'TF32 for what must stay in 32 bits: torch.set_float32_matmul_precision("high"), torch.backends.cudnn.allow_tf32 = True',
    ],
    verify:
      "kernels named sgemm and simt give way to tensorop, s1688 or s16816 ones; compare the loss of a few hundred steps",
  });
}
