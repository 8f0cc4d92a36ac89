/** Kernels of AMD's libraries: Tensile, Composable Kernel, AITER, MIOpen, and the runtime's own. */

import type { Reading, Rule } from "./reading.ts";
import type { Signature } from "./signature.ts";

/** Letters of Tensile for the data types. */
const TENSILE: Readonly<Record<string, string>> = {
  S: "fp32",
  D: "fp64",
  H: "fp16",
  B: "bf16",
  F8: "fp8",
  B8: "fp8",
  I8: "int8",
  X: "tf32",
  C: "complex64",
  Z: "complex128",
};

/** Layouts of the operands by the order of their indices. */
const LAYOUTS: Readonly<Record<string, string>> = {
  Ailk_Bljk: "nn",
  Ailk_Bjlk: "nt",
  Alik_Bljk: "tn",
  Alik_Bjlk: "tt",
};

/** `Cijk_Alik_Bljk_BBS_BH_Bias_…_MT128x64x64_…`: the problem up to the tile, then the solution. */
function tensile({ text }: Signature): Reading {
  const [problem = text] = text.split(/_(?:UserArgs_|GG_)?MT\d/);
  const [, a = "", b = "", types = ""] = problem.split("_");
  const [input = "", output = "", sums = ""] = types.match(/F8|B8|I8|[SDHBXCZI]/g) ?? [];
  const letters = sums === "S" ? [input, output] : [input];
  return {
    operation: ["gemm", LAYOUTS[`${a}_${b}`] ?? ""].join(" ").trim(),
    dataTypes: [...new Set(letters.flatMap((letter) => TENSILE[letter] ?? []))],
    tile: /_MT(\d+x\d+x\d+)/.exec(text)?.[1],
  };
}

/** `fmoe_bf16_pertokenFp8_g1u1_gelu_1tg_ps_32x192` and `bf16gemm_outf32_tn_64x64_pf3`, in assembly. */
function assembly({ base }: Signature): Reading {
  const [, type = "", isSingle] =
    /^(?:fmoe_(?:stage\d_)?)?(bf16|fp16|fp8|i?f?8|f4|int8)(?:gemm_(outf32)?)?/i.exec(base) ?? [];
  const types = [type, isSingle ? "fp32" : ""].filter(Boolean);
  return {
    operation: base.replace(
      /_\d+x\d+(?=_|$)|_pf\d+|_\d+tg|_ps(?=_|$)|_(?:clean|splitk)(?=_|$)/g,
      "",
    ),
    dataTypes: types,
    tile: /_(\d+x\d+)(?=_|$)/.exec(base)?.[1],
  };
}

/** `igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_…`. */
function implicitGemm({ base }: Signature): Reading {
  const [, direction, type = ""] = /^igemm_(fwd|bwd|wrw)_\w*?_(bf16|fp16|fp32|int8)_/.exec(base) ??
    [];
  return {
    operation: `igemm ${direction}`,
    dataTypes: type ? [type] : [],
    tile: /_bt(\d+x\d+x\d+)/.exec(base)?.[1],
  };
}

/** `batched_transpose_32x32_half`. */
function transpose({ base }: Signature): Reading {
  const type = /_(half|float|byte|dword|word)$/.exec(base)?.[1];
  return {
    operation: /^batched/.test(base) ? "batched_transpose" : base.replace(/_V?\d\w*$/, ""),
    dataTypes: type === "half" ? ["fp16"] : type === "float" ? ["fp32"] : [],
  };
}

/** Rules for AMD's libraries. */
export const AMD: readonly Rule[] = [
  {
    library: "hipBLASLt",
    path: /^Cijk_\w*_(?:UserArgs|Bias|SAV)_/,
    category: "gemm",
    read: tensile,
  },
  // Instructions are written with three numbers by the generator of hipBLASLt, with four by the older one.
  { library: null, path: /^Cijk_\w*_MI\d+x\d+x\d+(?=_|$)/, category: "gemm", read: tensile },
  { library: "rocBLAS", path: /^Cijk_/, category: "gemm", read: tensile },
  { library: "rocBLAS", path: /^rocblas_/ },
  { library: "hipBLASLt", path: /^hipblaslt/i },
  {
    library: "HIP",
    path: /^__amd_rocclr_/,
    category: "memory",
    read: ({ base }) => ({
      operation: base.replace(/^__amd_rocclr_/, "").replace(/Aligned$/, ""),
      dataTypes: [],
    }),
  },
  {
    library: "Composable Kernel",
    path: /^ck::.*(?:conv|bwd_weight|bwd_data)/,
    category: "convolution",
  },
  { library: "Composable Kernel", path: /^ck(?:_tile)?::/ },
  { library: "AITER", path: /^(?:aiter::)?fmoe_/, category: "gemm", read: assembly },
  { library: "AITER", path: /^aiter::(?:pa|mla|fmha)_|^kn_\w*mla/, category: "attention" },
  { library: "AITER", path: /^aiter::\w*gemm\w*$/, category: "gemm", read: assembly },
  { library: "AITER", path: /^(?:aiter::|aiter_|kn_|f4gemm_|wv_splitk)/ },
  {
    library: "MIOpen",
    path: /^igemm_(?:fwd|bwd|wrw)_/,
    category: "convolution",
    read: implicitGemm,
  },
  {
    library: "MIOpen",
    path: /^(?:batched_transpose_|transpose_NCHW|transpose_CNHW)/,
    category: "memory",
    read: transpose,
  },
  {
    library: "MIOpen",
    path: /^(?:SubTensorOp|OpTensor|ScalarTensor|Op\dd?Tensor)/,
    category: "elementwise",
  },
  {
    library: "MIOpen",
    path: /^(?:MIOpen|miopen)\w*(?:BatchNorm|LayerNorm|Norm)/,
    category: "normalization",
  },
  { library: "MIOpen", path: /^(?:MIOpen|miopen)\w*Softmax|^SoftmaxForward/, category: "softmax" },
  { library: "MIOpen", path: /^(?:MIOpen|miopen)\w*Pool|^mloPooling/i, category: "reduction" },
  { library: "MIOpen", path: /^MIOpen(?:Act|Neuron)/, category: "elementwise" },
  {
    library: "MIOpen",
    path: /^(?:MIOpen|miopen)\w*(?:Conv|Winograd)|^(?:naive_conv|gridwise_convolution|gfx\d+_conv)/,
    category: "convolution",
  },
  { library: "MIOpen", path: /^(?:Conv_Winograd|Im2d2Col|Col2Im2d)/, category: "convolution" },
  { library: "MIOpen", path: /^(?:MIOpen|miopen|mlo)/ },
];
