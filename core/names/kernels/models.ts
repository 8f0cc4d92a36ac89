/** Kernels of libraries for training and for models: Apex, Transformer Engine, Mamba, FBGEMM and others. */

import { elementTypes } from "./data_types.ts";
import type { KernelCategory, Reading, Rule } from "./reading.ts";
import type { Signature } from "./signature.ts";

/** Behind the type of the elements are those of states and counts. */
function firstType({ args }: Signature): Reading {
  return { dataTypes: elementTypes(args.join(", ")).slice(0, 1) };
}

/** Rules for libraries for training and for models. */
export const MODELS: readonly Rule[] = [
  { library: "Mamba", path: /^selective_scan_(?:fwd|bwd)_kernel/, category: "other" },
  { library: "Mamba", path: /^(?:causal_conv1d_|channellast_)\w*/, category: "convolution" },
  {
    library: "Transformer Engine",
    path: /^transformer_engine::.*cast_|^transformer_engine::.*(?:quantize|amax)/,
    category: "quantization",
  },
  {
    library: "Transformer Engine",
    path: /^(?:transformer_engine::|userbuffers_|moe_(?:un)?permute_|kuserbuffers_)/,
  },
  {
    library: "bitsandbytes",
    path: /^k(?:Optimizer|PreconditionOptimizer)/,
    category: "optimizer",
    read: firstType,
  },
  { library: "bitsandbytes", path: /^kgemm_4bit|^kspmm_|^kgemm/, category: "gemm" },
  {
    library: "bitsandbytes",
    path:
      /^k(?:Quantize|Dequantize|Int8VectorQuant|EstimateQuantiles|DoubleRowColQuant|dequant_|get_?ColRowStats|PercentileClipping|TransformRowToFormat|MatmulLt)/i,
    category: "quantization",
  },
  {
    library: "FBGEMM",
    path:
      /^(?:fbgemm_gpu::)?(?:split|dense|ssd)_embedding|embedding_codegen|^(?:fbgemm_gpu::)?(?:bounds_check_indices|linearize_index)/,
    category: "embedding",
  },
  { library: "FBGEMM", path: /^fbgemm(?:_gpu)?::/ },
  {
    library: "Apex",
    path:
      /^(?:cuApplyLayerNorm|cuApplyRMSNorm|cuCompute(?:Part)?Grad\w*|nhwc_batch_norm\w*|layer_norm::ln_\w*)$/,
    category: "normalization",
  },
  {
    library: "Apex",
    path: /^scaled_(?:masked_|upper_triang_masked_|aligned_)?(?:causal_masked_)?softmax_warp_/,
    category: "softmax",
  },
  { library: "xFormers", path: /^sparse24_/, category: "other" },
  {
    library: "XLA",
    path:
      /^(?:loop|input|gemm|wrapped|triton_(?:softmax|gemm))_\w*fusion\w*$|^wrapped_[a-z]+(?:_\d+)?$/,
    read: xla,
  },
];

/** What fusions of XLA do, by the operation in their name. */
const FUSIONS: readonly [KernelCategory, RegExp][] = [
  ["gemm", /^gemm_|_dot/],
  ["reduction", /^input_\w*reduce/],
  ["memory", /copy|transpose|concat|slice|pad|broadcast|gather|scatter/],
  ["elementwise", /^(?:loop|wrapped)_/],
];

/** `loop_add_fusion_12`. */
function xla({ base }: Signature): Reading {
  const category = FUSIONS.find(([, pattern]) => pattern.test(base))?.[0];
  return { category, operation: base.replace(/_\d+$/, "") };
}
