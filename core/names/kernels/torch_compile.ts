/** Kernels that torch.compile writes: `triton_poi_fused_add_mul_0` names the operations that it fused. */

import type { KernelCategory, Reading, Rule } from "./reading.ts";
import type { Signature } from "./signature.ts";

/** Operations of ATen with an underscore in their name: all others have none. */
const COMPOUND = [
  "_?unsafe_view|_?to_copy|_?reshape_alias|as_strided|split_with_sizes|lift_fresh(?:_copy)?",
  "new_(?:zeros|ones|full|empty)(?:_strided)?|(?:zeros|ones|full|empty|rand|randn)_like|empty_strided",
  "native_(?:layer|group|batch)_norm(?:_legit(?:_no_training|_functional)?)?(?:_backward)?",
  "_?(?:fused_)?(?:layer|rms|group|batch)_norm",
  "_?scaled_dot_product_\\w*?attention(?:_backward)?|flex_attention(?:_backward)?|fmha_v3_fwd",
  "_?flash_attention_(?:forward|backward)|_?efficient_attention_(?:forward|backward)|_?scaled_mm",
  "_?(?:log_)?softmax(?:_backward_data)?|prepare_softmax_online|var_mean|linalg_vector_norm",
  "bitwise_(?:and|or|not|xor)|logical_(?:and|or|not|xor)|masked_(?:fill|scatter)|constant_pad_nd",
  "index_(?:put|select|add|copy|fill)|slice_(?:scatter|backward)|select_(?:scatter|backward)",
  "embedding(?:_dense_backward|_bag)?|nll_loss(?:_forward|_backward)|native_dropout(?:_backward)?",
  "(?:threshold|gelu|silu|tanh|sigmoid|elu|hardtanh|hardswish|leaky_relu)_backward|leaky_relu",
  "_?(?:low_memory_)?max_pool2d_with_(?:indices|offsets)(?:_backward)?|_?(?:adaptive_)?avg_pool2d",
  "_?upsample_\\w+?[123]d(?:_aa)?|pixel_shuffle|convolution_backward|_?log_sum_exp|clamp_(?:min|max)",
].join("|");

const OPERATION = new RegExp(`(?:${COMPOUND})(?=_|$)|[a-z]\\w*?(?=_|$)`, "g");

/** Operations that only look at their input in another shape or type. */
const VIEW = new RegExp(
  "^_?(?:unsafe_view|to_copy|reshape_alias|view|reshape|t|transpose|permute|expand|unsqueeze|squeeze|" +
    "slice|select|split|split_with_sizes|as_strided|clone|detach|alias|unbind|lift_fresh|empty|repeat)$",
);

/** Operations whose results the kernel reads: they are no part of it, but of a template. */
const SOURCE =
  /^_?(?:addmm|mm|bmm|baddbmm|convolution(?:_backward)?|scaled_mm|fmha_v3_fwd|\w*attention\w*)$/;

/** What the fused operations amount to; the first that is found decides. */
const PARTS: readonly [KernelCategory, RegExp][] = [
  [
    "normalization",
    /(?:layer|rms|group|batch)_norm|mean(?: \w+)* rsqrt|rsqrt(?: \w+)* (?:sum|var)/,
  ],
  ["softmax", /softmax/],
  ["reduction", /pool/],
  ["embedding", /(?<!\w)embedding/],
];

/** `triton_{poi,per,red,tem,for}_fused_<operations>_<number>`. */
function fused({ text }: Signature): Reading {
  const [, kind = "", list = ""] = /^triton_([a-z]+)_fused_(\w*?)(?:_\d+)?$/.exec(text) ?? [];
  const operations = [...new Set(list.match(OPERATION))];
  const kept = operations.filter((name) => !VIEW.test(name));
  const own = kind === "tem" ? kept : kept.filter((name) => !SOURCE.test(name));
  const said = own.length > 0 ? own : kept.length > 0 ? kept : operations;
  return {
    category: categoryOf(kind, own),
    operation: `${kind === "tem" ? "template" : "fused"} ${said.toSorted().join(" ")}`,
    variant: operations.filter((name) => !said.includes(name)).sort().join(" "),
    dataTypes: [],
  };
}

function categoryOf(kind: string, operations: readonly string[]): KernelCategory {
  const all = operations.toSorted().join(" ");
  if (kind === "tem") {
    if (/attention/.test(all)) return "attention";
    return /convolution/.test(all) ? "convolution" : "gemm";
  }
  const isPart = PARTS.find(([, pattern]) => pattern.test(all));
  if (isPart) return isPart[0];
  if (kind === "for") return "elementwise";
  if (kind === "red" || kind === "per") return "reduction";
  return operations.length > 0 ? "elementwise" : "memory";
}

/** Rules for torch.compile. */
export const TORCH_COMPILE: readonly Rule[] = [
  { library: "torch.compile", path: /^triton_[a-z]+_fused_/, read: fused },
  { library: "torch.compile", path: /^triton_(?:mm|bmm|addmm|tem|poi|red|per|for|helpers)(?:_|$)/ },
];
