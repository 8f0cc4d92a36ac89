/** Names that NVIDIA's generators of kernels compose, such as `ampere_bf16_s16816gemm_bf16_128x64_tn`. */

import { shortType } from "./data_types.ts";
import type { Reading } from "./reading.ts";

/** Letters of BLAS for the type of the arithmetic. */
const LETTERS: Readonly<Record<string, string>> = {
  s: "fp32",
  h: "fp16",
  d: "fp64",
  i: "int8",
  c: "complex64",
  gc: "complex64",
  z: "complex128",
};

const TYPE = "tf32|bf16|fp16|fp32|fp64|fp8|f16|f32|f64|e4m3|e5m2|e2m1|s8|u8|i8";
const FIRST_TYPE = new RegExp(`(?:^|_)(${TYPE})`);
const RESULT_TYPE = new RegExp(`gemm_(?:relu_|bias_)?(${TYPE})_\\d`);

/** The generator's code of the arithmetic and what it is for: `s16816gemm`, `scudnn`. */
const CODE = /(?:^|_)(gc|[shdicz])(\d[\dx]*)?(gemm|fprop|dgrad|wgrad|cudnn)/;

/** The same where the arithmetic is told by the types alone. */
const XMMA = /(?:^|_)xmma_()()(gemm|fprop|dgrad|wgrad)/;

/** What a composed name says about data types, tile and layout. */
interface FlatName {
  /** `gemm`, or the direction of a convolution. */
  kind: string;
  /** Fused operations, such as `relu`. */
  fused: readonly string[];
  /** `nn`, `tn` and so on; empty: not told. */
  layout: string;
  dataTypes: readonly string[];
  tile: string | undefined;
}

function flatName(name: string): FlatName {
  const [, letter = "", instruction = "", kind = ""] = CODE.exec(name) ?? XMMA.exec(name) ?? [];
  return {
    kind,
    fused: [...new Set(name.match(/(?<=_)(?:bias|relu|gelu|silu|swiglu)(?=_|$)/gi))],
    layout: /_([nt]{2,3})(?=_|$)/i.exec(name)?.[1] ?? "",
    dataTypes: dataTypes(name, letter, instruction),
    tile: tile(name),
  };
}

function dataTypes(name: string, letter: string, instruction: string): readonly string[] {
  const first = FIRST_TYPE.exec(name)?.[1];
  const result = RESULT_TYPE.exec(name)?.[1];
  if (first) return [...new Set([first, result ?? first].map(shortType))];
  // Single precision on tensor cores is TF32.
  if (letter === "s" && instruction) return ["tf32"];
  const type = LETTERS[letter];
  return type ? [type] : [];
}

/** M x N x K; K stands apart, before the number of stages. */
function tile(name: string): string | undefined {
  const whole = /(?:tilesize|_)(\d+x\d+x\d+)(?=_)/.exec(name);
  if (whole) return whole[1];
  const parts = /_(\d+x\d+)(?:_(\d+)x\d+|(?:_[a-z]\w*?)?_stages_(\d+)x\d+)?(?=_|$)/.exec(name);
  // Without a tile the shape of the instruction is all that is told.
  if (!parts) return /_[sdhi](\d+x\d+x\d+)(?=[a-z])/.exec(name)?.[1];
  const [, sides, k = parts[3]] = parts;
  return k ? `${sides}x${k}` : sides;
}

/** Reading of a GEMM's composed name. */
export function flatGemm(name: string): Reading {
  const { kind, fused, layout, dataTypes, tile } = flatName(name);
  return {
    operation: [kind || "gemm", ...fused, layout].filter(Boolean).join(" "),
    detail: /split_?k/i.test(name) ? "split-K" : "",
    dataTypes,
    tile,
  };
}

/** Reading of a convolution's composed name. */
export function flatConvolution(name: string): Reading {
  const { kind, fused, dataTypes, tile } = flatName(name);
  const direction = /dgrad|wgrad/.test(kind) ? kind : "fprop";
  const operation = ["conv", direction, ...fused].join(" ");
  return { operation, dataTypes, tile };
}
