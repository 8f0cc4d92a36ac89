/** Kernels of inference engines and of the libraries that they bring along. */

import { elementTypes, shortType, spelledTypes } from "./data_types.ts";
import { cuteTile } from "./cutlass.ts";
import type { Reading, Rule } from "./reading.ts";
import { closing, type Signature, split } from "./signature.ts";

/** Where the tile begins in the arguments of DeepGEMM's kernels, which grew over its releases. */
const DEEP_GEMM_TILES: readonly [RegExp, number][] = [
  [/^fp8_gemm_kernel/, 2],
  [/^sm100_\w*fp8_fp4_gemm/, 8],
  [/^sm90_bf16_gemm/, 6],
  [/^sm90_fp8_gemm_1d1d/, 4],
  [/gemm/, 5],
];

/** Ways of grouping GEMMs, by the number in DeepGEMM's arguments. */
const DEEP_GEMM_GROUPS = ["", "grouped", "masked"];

/** `sm100_fp8_gemm_1d1d_impl<…, BLOCK_M, BLOCK_N, BLOCK_K, …, GemmType, …>`. */
function deepGemm({ base, args }: Signature): Reading {
  if (!/gemm/.test(base)) return {};
  const [, at = 5] = DEEP_GEMM_TILES.find(([pattern]) => pattern.test(base)) ?? [];
  const sides = args.slice(at, at + 3).map((arg) => Number.parseInt(arg));
  const type = args.find((arg) => arg.includes("GemmType)"))?.at(-1);
  const input = /fp8/.test(base) ? "fp8" : /bf16/.test(base) ? "bf16" : undefined;
  const [result = "bf16"] = elementTypes(args.join(", ")).filter((found) =>
    !/^fp[48]$/.test(found)
  );
  const name = base.replace(/^sm\d+_|_impl$|_kernel$/g, "");
  return {
    operation: [DEEP_GEMM_GROUPS[Number(type)], name].filter(Boolean).join(" "),
    dataTypes: input ? [...new Set([input, result])] : [],
    tile: sides.every((side) => side >= 8) ? sides.join("x") : undefined,
  };
}

/** `fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext`. */
function fmhaSm100({ base }: Signature): Reading {
  const types = base.match(/(?<=_Q(?:kv)?|Kv|O)(?:E4m3|E2m1|Bfloat16|Fp16|E5m2)/g) ?? [];
  const [, q, kv] = /Q(\d+)Kv(\d+)/.exec(base) ?? [];
  const words = base.match(/PagedKv|Causal|Context|Generation|SlidingOrChunked/g) ?? [];
  return {
    operation: ["fmha", ...words].join(" "),
    dataTypes: [...new Set(types.map((type) => shortType(type.toLowerCase())))],
    tile: q && `${q}x${kv}`,
  };
}

/** `bmm_Bfloat16_E4m3E4m3_Fp32_t128x64x128u2_…`: result, operands, sums, tile. */
function batchedMatmul({ base }: Signature): Reading {
  const [, kind = "bmm", result = "", operands = "", tile] =
    /^(bmm|gemm)_([A-Z][A-Za-z0-9]*)_([A-Z][A-Za-z0-9]*)_Fp32(?:_\w*?)?_t(\d+x\d+x\d+)/.exec(
      base,
    ) ?? [];
  const types = [...operands.matchAll(/(?:Mx)?(E4m3|E2m1|Bfloat16|Fp16|E5m2)/g)].map(([, type]) =>
    type!
  );
  const all = [...types, result.replace(/^Mx/, "")].map((type) => shortType(type.toLowerCase()));
  const fused = /swiglu/i.test(base) ? ["swiglu"] : /_gelu/i.test(base) ? ["gelu"] : [];
  return { operation: [kind, ...fused].join(" "), dataTypes: [...new Set(all)], tile };
}

/** `kernel_cutlass_kernel_flashinfernormkernels…RMSNormKernel_object_at__tensorptrbf16gmem…` of CuTe DSL. */
function cuteDsl({ base }: Signature): Reading {
  const [, name = base] =
    /^kernel_cutlass_(?:kernel_)?(\w+?)(?:_object_at|_tensor|_\d+$|$)/.exec(base) ?? [];
  const type = /tensorptr(bf16|f16|f32|f8)/.exec(base)?.[1];
  const [, last = name] = /((?:[A-Z]+[a-z\d]+)+)$/.exec(name) ?? [];
  return { operation: last.replace(/Kernel$/, ""), dataTypes: type ? [shortType(type)] : [] };
}

/** `cutlass_3x_gemm<A, D, Epilogue, tile, cluster, …>::GemmKernel` of vLLM and what is like it. */
function scaledGemm({ text }: Signature): Reading {
  const [whole = "", name = ""] = /(cutlass_\w{0,40}gemm\w{0,40})</.exec(text) ?? [];
  const start = text.indexOf(whole) + whole.length;
  const types = spelledTypes(
    split(text.slice(start, closing(text, start - 1))).slice(0, 2).join(", "),
  );
  const isInName = /_(fp8|int8)_blockwise/.exec(name);
  return {
    operation: name.replace(/_sm\d+/, ""),
    dataTypes: isInName ? [isInName[1]!] : types,
    tile: cuteTile(text.slice(start)),
  };
}

/** Kernels of sgl-kernel, which are in no namespace. */
const SGLANG = new RegExp(
  "^(?:" + [
    "per_t(?:oken|ensor)_(?:quant|absmax)\\w*",
    "moe_fused_gate\\w*|moe_align_block_size\\w*|count_and_sort_expert_tokens\\w*",
    "merge_attn_states_kernel|lightning_attention\\w*|cvt_fp16_to_fp4\\w*|LogitsBitmaskKernel",
    "router_gemm_kernel\\w*|fused_a_gemm_kernel|transfer_\\w*kernel_impl|apply_shuffle_mul_sum\\w*",
    "dsv3_\\w+|ep_moe_\\w+|shuffleRowsKernel|compute_expert_\\w+|compute_arg_sorts|VerifyTree\\w+|build_tree_\\w+",
    "TreeSpeculativeSampling\\w*|topk_transform\\w*|fast_topk\\w*|kimi_k2_moe_fused_gate\\w*|moe_topk_\\w+",
    "dense_kernel0|qserve_\\w+|concat_mla_\\w+|rotary_embedding_kernel_\\w+",
  ].join("|") + ")$",
);

/** Rules for engines and libraries, by their namespaces. */
export const ENGINES: readonly Rule[] = [
  { library: "FlashInfer", path: /^kernel_cutlass_\w*flashinfer/, read: cuteDsl },
  {
    library: "FlashAttention 4",
    path: /^kernel_cutlass_\w*flash_attn|^flash::FlashAttention\w*Sm1\d\d$/,
    category: "attention",
    read: cuteDsl,
  },
  { library: null, path: /^kernel_cutlass_/, read: cuteDsl },
  { library: "FlashInfer", path: /^flashinfer::activation::/, category: "elementwise" },
  { library: "FlashInfer", path: /PackBits/, category: "other" },
  { library: "FlashInfer", path: /^flashinfer::/ },
  {
    library: "CUTLASS",
    path: /cutlass_sparse_3x_gemm|cutlass_3x_group_gemm/,
    category: "gemm",
    read: scaledGemm,
  },
  { library: null, path: /cutlass_3x_gemm|cutlass_2x_gemm/, category: "gemm", read: scaledGemm },
  {
    library: "SGLang",
    path: /^(?:sglang|sgl_kernel|sgl)::|^(?:\(anonymous namespace\)::)?store_kvcache/,
  },
  { library: "vLLM", text: /machete::/, category: "gemm" },
  {
    library: "vLLM",
    path: /^allspark::/,
    category: "gemm",
    read: () => ({ operation: "allspark gemm W8A16" }),
  },
  { library: "vLLM", path: /^vllm::moe::moe_sum/, category: "reduction" },
  { library: "vLLM", path: /^vllm::/ },
  { library: "Marlin", path: /repack/, text: /marlin/i, category: "memory" },
  {
    library: "Marlin",
    path: /(?:^|::)Marlin\w*$|^marlin|^gptq_marlin|^awq_marlin/,
    category: "gemm",
  },
  {
    library: "ExLlama",
    path: /gemm_half_q_half|^(?:reconstruct|make_q|shuffle)_\w*(?:exllama|gptq)/,
    category: "gemm",
  },
  {
    library: "AWQ",
    path: /^(?:vllm::awq::)?(?:gemmv?\d?_forward_4bit|gemmv2_forward|gemm_forward_4bit)/,
    category: "gemm",
    read: ({ base }) => ({
      operation: base.replace(/_m\d+n\d+k\d+$/, ""),
      dataTypes: ["fp16"],
      tile: /m(\d+)n(\d+)k(\d+)/.exec(base)?.slice(1).join("x"),
    }),
  },
  { library: "TurboMind", path: /^turbomind::/ },
  { library: "SGLang", path: SGLANG },
  { library: null, path: /^dpsk::gemm::/, category: "gemm", read: deepGemm },
  { library: "DeepGEMM", path: /^deep_gemm::.*mqa_logits/, category: "attention" },
  { library: "DeepGEMM", path: /^deep_gemm::.*transpose/, category: "memory" },
  { library: "DeepGEMM", path: /^deep_gemm::/, category: "gemm", read: deepGemm },
  { library: "TensorRT-LLM", path: /^fmhaSm\d+/, category: "attention", read: fmhaSm100 },
  {
    library: "TensorRT-LLM",
    path: /^(?:bmm|gemm)_(?:Mx)?[A-Z]\w*_t\d+x/,
    category: "gemm",
    read: batchedMatmul,
  },
  { library: "TensorRT-LLM", path: /^moe::dev::activation::/, category: "elementwise" },
  { library: "TensorRT-LLM", path: /^moe::dev::/, category: "routing" },
  { library: "TensorRT-LLM", path: /^fmha_v2_|^kernel_mha/, category: "attention" },
  { library: "TensorRT-LLM", path: /^(?:tensorrt_llm|trtllm)::/ },
];
