/** Precision of kernels: 32-bit products beside tensor cores that nothing uses. */

import type { KernelWork } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import { capability, finding, part, SHARE } from "./kernel_part.ts";
import { digits, percent, type WorkedDevice } from "./measures.ts";

/** Products in 32-bit on plain cores: cuBLAS and CUTLASS call them sgemm and simt, cuDNN scudnn. */
export const SINGLE =
  /(?:^|[^a-z])(?:s?gemm_(?:fp32|f32)_(?!.*tf32)|[a-z]+_sgemm|sgemm|simt_s|scudnn|implicit_convolve_sgemm)/i;

const TENSOR =
  /tf32|s1688|s16816|h1688|h16816|tensorop|xmma_.*(?:bf16|f16|tf32)|nvjet|wgmma|tcgen05/i;

/** Libraries whose symbols state the types of what is multiplied. */
const LIBRARIES = /cublas|cutlass|cudnn|tensile|hipblas|rocblas|miopen|composable/i;

/** Products with a vector wait for memory: tensor cores do not make them faster. */
const VECTOR = /gemv|mul_mat_vec|dot_kernel/i;

/** Products in 64 bits by their symbols. */
const DOUBLE = /(?:^|_)dgemm|d884gemm/i;

/** Tensor cores must be this much faster than the plain ones for a change to pay. */
const WORTH = 1.8;

/** Without tensor cores, or with peaks that are not known, devices of this capability have TF32. */
const HAS_TF32 = 80;

/** The finding that products run in 32 bits beside unused tensor cores. */
export function precision(devices: readonly WorkedDevice[]): Finding | null {
  const able = devices.filter((device) => gainOf(device) >= WORTH);
  if (able.length === 0) return null;
  const single = part(able, isSingle);
  if (single.share < SHARE) return null;
  const [first] = able;
  const ratio = gainOf(first!);
  const isAmd = first!.activity.source === "rocm";
  const hasTf32 = (first!.peaks?.teraflops.tf32 ?? 0) > 0 ||
    (capability(first!) ?? 0) >= HAS_TF32;
  return finding(single, {
    id: "kernels/precision",
    title: `Precision: ${
      percent(single.share)
    } of the time is in 32-bit products on the plain cores, while the ${
      isAmd ? "matrix" : "tensor"
    } cores, ${digits(ratio)} times as fast in ${
      hasTf32 && !isAmd ? "TF32" : "16 bits"
    }, are not used for them`,
    // Half of the ratio of peaks is what products of usual sizes reach.
    gain: 1 - 1 / Math.max(WORTH, ratio / 2),
    confidence: "high",
    doubt: "",
    remedies: [
      capability(first!) !== null && capability(first!)! < HAS_TF32
        ? 'fp16 with torch.autocast("cuda", dtype=torch.float16) and a gradient scaler'
        : 'bf16 with torch.autocast("cuda", dtype=torch.bfloat16), or the trainer\'s bf16 option',
      ...(hasTf32 && !isAmd
        ? [
          'TF32 for what must stay in 32 bits: torch.set_float32_matmul_precision("high"), torch.backends.cudnn.allow_tf32 = True',
        ]
        : []),
    ],
    verify: isAmd
      ? "products with 16-bit types (BBS, HHS) take over; compare the loss of a few hundred steps"
      : "kernels named sgemm and simt give way to tensorop, s1688 or s16816 ones; compare the loss of a few hundred steps",
  });
}

/** The finding that products run in 64 bits: consumer and inference devices have hardly any units for them. */
export function double(devices: readonly WorkedDevice[]): Finding | null {
  const wide = part(
    devices,
    ({ name, category, data_types }) =>
      category === "gemm" && (data_types.includes("fp64") || DOUBLE.test(name)),
  );
  if (wide.share < SHARE) return null;
  return finding(wide, {
    id: "kernels/double",
    title: `Precision: ${percent(wide.share)} of the time is in products in 64 bits`,
    gain: 0.5,
    confidence: "medium",
    doubt: "whether the work needs 64 bits is not in the data",
    remedies: [
      "float32 with TF32 or bf16 where results allow it: a NumPy array that was never converted is the usual cause",
      "where 64 bits are needed: a device with tensor cores for them (A100, H100)",
    ],
    verify: "kernels named dgemm give way to others; compare results",
  });
}

/** Products of single-precision values: by what the label tells, else by the symbol. */
function isSingle({ name, category, library, data_types }: KernelWork): boolean {
  if (TENSOR.test(name) || VECTOR.test(name)) return false;
  const isProduct = category === "gemm" || category === "convolution";
  const isPlain = data_types.length > 0 && data_types.every((type) => type === "fp32");
  return isProduct && isPlain && LIBRARIES.test(library ?? "") ||
    (isProduct || category === "other") && SINGLE.test(name);
}

/** How much faster the tensor cores are than the plain ones, in the type that keeps most of the precision. */
function gainOf(device: WorkedDevice): number {
  const { fp32, tf32, bf16, fp16 } = device.peaks?.teraflops ?? {};
  const fast = (device.activity.source === "cuda" ? tf32 : undefined) ?? bf16 ?? fp16;
  if (fp32 && fast) return fast / fp32;
  return (capability(device) ?? 0) >= HAS_TF32 ? 4 : 1;
}
