/** Templates of CUTLASS: tiles and data types in them. */

import { elementTypes, spelledTypes } from "./data_types.ts";
import type { Reading, Rule } from "./reading.ts";
import { type Signature, split } from "./signature.ts";

const SIDE = "(?:cute::)?C<(\\d+)>";
const SHAPE = new RegExp(`tuple<${SIDE}, ${SIDE}(?:, ${SIDE})? ?>`, "g");

/** The first tile among the shapes of CuTe: clusters, which come before it, are smaller. */
export function cuteTile(text: string): string | undefined {
  for (const [, m, n, k] of text.matchAll(SHAPE)) {
    if (Number(m) >= 16 && Number(n) >= 8) return [m, n, k].filter(Boolean).join("x");
  }
  return undefined;
}

/** A GEMM of CUTLASS 3, written as its template. */
function collectiveGemm({ text }: Signature): Reading {
  const start = text.indexOf("CollectiveMma<");
  const [, , a = "", , b = ""] = split(text.slice(start + "CollectiveMma<".length, start + 8_000));
  const types = [...spelledTypes(a), ...spelledTypes(b)];
  const words = [
    /GroupProblemShape/.test(text) ? "grouped" : "",
    /BlockScaled/.test(text) ? "block-scaled" : "",
  ];
  return {
    operation: [...words, "gemm"].filter(Boolean).join(" "),
    dataTypes: [...new Set(types.length > 0 ? types : elementTypes(text))],
    tile: cuteTile(text.slice(start)),
  };
}

/** A GEMM of CUTLASS 2, written as its template. */
function threadblockGemm({ text }: Signature): Reading {
  const shape = /GemmShape<(\d+), (\d+), (\d+)>/.exec(text);
  return {
    operation: /Grouped/.test(text) ? "grouped gemm" : "gemm",
    dataTypes: elementTypes(text).slice(0, 2),
    tile: shape?.slice(1).join("x"),
  };
}

/** The composed name in a name of C++: `Kernel<cutlass_80_…>(…)`. */
export function composed(text: string): string {
  return /<(\w+)>/.exec(text)?.[1]?.slice(0, 300) ?? text.slice(0, 300);
}

/** Templates of CUTLASS that no other library has wrapped. */
export const CUTLASS: readonly Rule[] = [
  { library: "CUTLASS", text: /CollectiveMma</, category: "gemm", read: collectiveGemm },
  {
    library: "CUTLASS",
    path: /^cutlass/,
    text: /GemmShape</,
    category: "gemm",
    read: threadblockGemm,
  },
  { library: "CUTLASS", path: /^cutlass/ },
];
