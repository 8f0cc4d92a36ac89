/** Kernels of cuBLAS and cuDNN, and those that CUTLASS' generator named. */

import { composed } from "./cutlass.ts";
import { elementTypes, shortType } from "./data_types.ts";
import { flatConvolution, flatGemm } from "./flat.ts";
import type { Reading, Rule } from "./reading.ts";
import type { Signature } from "./signature.ts";

/** Letters of `nvjet` for the data types. */
const NVJET: Readonly<Record<string, string>> = {
  t: "bf16",
  h: "fp16",
  s: "fp32",
  d: "fp64",
  q: "fp8",
  r: "fp8",
  o: "fp4",
  i: "int8",
};

/** `nvjet_sm90_tst_128x64_64x8_2x1_v_bz_bias_TNT`: types, tile, K and stages, cluster, layout. */
function nvjet({ text }: Signature): Reading {
  const [, types = "", sides, k] =
    /^nvjet_(?:sm\d+_)?([a-z]+)_(?:mma_)?(\d+x\d+)(?:x|_)(\d+)/.exec(text) ?? [];
  const letters = [types[0], types.at(-1)].map((letter) => NVJET[letter ?? ""] ?? "");
  const fused = text.match(/(?<=_)(?:bias|d?relu|d?gelu|bgrad[ab]?)(?=_|$)/gi) ?? [];
  const layout = /_([NT]{3,4})$/.exec(text)?.[1] ?? "";
  return {
    operation: ["gemm", ...fused, layout].filter(Boolean).join(" "),
    detail: /splitK/.test(text) ? "split-K" : "",
    dataTypes: [...new Set(letters.filter(Boolean))],
    tile: sides && `${sides}x${k}`,
  };
}

/** `cudnn_generated_oss_sdpa_sm100_flash_fprop_f16_knob_7_128x128x64_4x1x1_cga1x1x1_kernel0_0`. */
function cudnnAttention({ text }: Signature): Reading {
  const type = /_(bf16|f16|e4m3|e5m2)_/.exec(text)?.[1];
  return {
    operation: `sdpa flash ${/bprop/.test(text) ? "bprop" : "fprop"}`,
    dataTypes: type ? [shortType(type)] : [],
    tile: /_(\d+x\d+x\d+)_/.exec(text)?.[1],
  };
}

/** Rules for cuBLAS and cuDNN. */
export const NVIDIA: readonly Rule[] = [
  { library: "cuBLAS", path: /^nvjet_/, category: "gemm", read: nvjet },
  {
    library: "cuDNN",
    path: /^cudnn_generated\w*sdpa/,
    category: "attention",
    read: cudnnAttention,
  },
  {
    library: "cuDNN",
    text: /(?:cudnn|cask_).*_\d+x\d+|tilesize.*cudnn/i,
    category: "convolution",
    read: ({ text }) => flatConvolution(composed(text)),
  },
  {
    library: "cuDNN",
    text: /cudnn|cask_/i,
    path: /nchwToNhwc|nhwcToNchw|AddPadding|scalePackedTensor/i,
    category: "memory",
  },
  { library: "cuDNN", text: /cudnn/, path: /::bn_|batchnorm/i, category: "normalization" },
  { library: "cuDNN", text: /cudnn/, path: /pooling/i, category: "reduction" },
  { library: "cuDNN", text: /cudnn/, path: /softmax/i, category: "softmax" },
  {
    library: "cuDNN",
    text: /cudnn/,
    path: /op_?tensor|op_generic|activation/i,
    category: "elementwise",
  },
  { library: "cuDNN", text: /cudnn|cask_/i, category: "convolution" },
  {
    library: "cuDNN",
    path: /^(?:LSTM|GRU|RNN)_elementWise/,
    category: "elementwise",
  },
  {
    library: "cuDNN",
    path: /^(?:fft[12]d_|(?:im|ex)plicit_convolve|flip_filter|im2col4d|conv2d_|convolve_|winograd)/,
    category: "convolution",
  },
  {
    library: "cuBLAS",
    text: /_cublas$|cutlass\w*cublas/,
    category: "gemm",
    read: ({ text }) => flatGemm(composed(text)),
  },
  {
    library: "CUTLASS",
    text: /^(?:void )?cutlass::Kernel2?<cutlass_/,
    category: "gemm",
    read: ({ text }) => flatGemm(composed(text)),
  },
  {
    library: null,
    path: /^cutlass3x_\w*(?:fprop|dgrad|wgrad)/,
    category: "convolution",
    read: ({ text }) => flatConvolution(text),
  },
  {
    library: "CUTLASS",
    path: /^cutlass(?:3x)?_\w*gemm/,
    category: "gemm",
    read: ({ text }) => flatGemm(text),
  },
  {
    library: "cuBLAS",
    path: /^(?:ampere|volta|turing|maxwell|pascal|hopper|ada|blackwell|sm\d+)_\w*gemm/,
    category: "gemm",
    read: ({ text }) => flatGemm(text),
  },
  {
    library: "cuBLAS",
    path: /^(?:cublasLt::)?splitKreduce_kernel/,
    category: "gemm",
    read: () => ({ operation: "split-K reduction" }),
  },
  {
    library: "cuBLAS",
    path: /^epilogue::impl::globalKernel/,
    category: "gemm",
    read: () => ({ operation: "epilogue" }),
  },
  {
    library: "cuBLAS",
    path: /^gemmk1_kernel/,
    category: "gemm",
    read: ({ args }) => ({ dataTypes: elementTypes(args.slice(1).join(", ")) }),
  },
  {
    library: "cuBLAS",
    path: /gemv|gemmk1|gemmSN|gemm_kernel|trsm|syrk|getr[fs]/,
    text: /cublas/i,
    category: "gemm",
  },
  {
    library: "cuBLAS",
    path: /reduce_1Block|^dot_kernel|asum|nrm2/,
    text: /cublas/i,
    category: "reduction",
  },
  {
    library: "cuBLAS",
    path: /^(?:scal|axpy|copy)_kernel/,
    text: /cublas/i,
    category: "elementwise",
  },
  {
    library: "cuBLAS",
    path: /^(?:internal::gemvx::|gemv2[TN]_|gemvNSP_|gemmSN_)/,
    category: "gemm",
  },
  { library: "cuBLAS", text: /cublas/i },
];
