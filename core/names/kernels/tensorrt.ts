/** Kernels of TensorRT. */

import { flatConvolution, flatGemm } from "./flat.ts";
import type { KernelCategory, Reading, Rule } from "./reading.ts";
import type { Signature } from "./signature.ts";

/** What fusions of TensorRT do, by the operations in their name. */
const FUSIONS: readonly [KernelCategory, RegExp][] = [
  ["gemm", /Fc|Gemm|Matm|Bmm/],
  ["convolution", /Conv/],
  ["normalization", /Norm|Mean\w*Sqrt/],
  ["softmax", /Soft|Exp\w*Sum/],
  ["reduction", /Sum|Mean|Max|Min/],
  ["memory", /^(?:Move|Copy|Tran|Resh|Conc|Slic|Gath|Repl|Cast)+$/],
];

/** `__myl_CastMulMeanAddSqrtDivMul_0x1b2c…` of TensorRT: the first letters of the fused operations. */
function myelin({ base }: Signature): Reading {
  const [, operations = ""] = /^(?:__)?myl_([A-Za-z]+)/.exec(base) ?? [];
  const category = FUSIONS.find(([, pattern]) => pattern.test(operations))?.[0] ?? "elementwise";
  return { category, operation: `fused ${operations}` };
}

/** Rules for TensorRT. */
export const TENSORRT: readonly Rule[] = [
  {
    library: "TensorRT",
    path: /^trt_\w*cudnn_/,
    category: "convolution",
    read: ({ text }) => ({ ...flatConvolution(text), detail: "trt" }),
  },
  {
    library: "TensorRT",
    path: /^(?:sm\d+|trt)_\w*(?:fprop|dgrad|wgrad)(?!\w*cudnn)\w*(?:_trt|tilesize)/,
    category: "convolution",
    read: ({ text }) => flatConvolution(text),
  },
  {
    library: "TensorRT",
    path: /_trt$|^trt_\w*gemm/,
    category: "gemm",
    read: ({ text }) => flatGemm(text),
  },
  {
    library: "TensorRT",
    path: /^_gemm_mha_v2/,
    category: "attention",
    read: () => ({ operation: "gemm_mha_v2" }),
  },
  { library: "TensorRT", path: /^genericReformat::/, category: "memory" },
  { library: "TensorRT", path: /^(?:__)?myl_/, read: myelin },
];
