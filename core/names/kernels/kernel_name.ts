/** Kernels by name: what a symbol says about library, category, data types and tile. */

import { demangle, demangleStart } from "../itanium/demangle.ts";
import { AMD } from "./amd.ts";
import { ATEN, MULTI_TENSOR } from "./aten.ts";
import { ATTENTION } from "./attention.ts";
import { COLLECTIVES } from "./collectives.ts";
import { CUB } from "./cub.ts";
import { CUTLASS } from "./cutlass.ts";
import { elementTypes, namedTypes } from "./data_types.ts";
import { ENGINES } from "./engines.ts";
import { MEMORY } from "./memory.ts";
import { MODELS } from "./models.ts";
import { NVIDIA } from "./nvidia.ts";
import type { KernelCategory, Rule } from "./reading.ts";
import { type Signature, signature } from "./signature.ts";
import { TENSORRT } from "./tensorrt.ts";
import { TORCH_COMPILE } from "./torch_compile.ts";
import { TRITON } from "./triton.ts";
import { categoryOf } from "./words.ts";

/** What a kernel's symbol says. */
export interface KernelName {
  /** Short name: what is computed, with data types and tile, at most 60 characters. */
  name: string;
  /** Library that the kernel is of; `null`: not told. */
  library: string | null;
  /** What its time is spent on. */
  category: KernelCategory;
  /** Types of the elements, the input's first; empty: not told. */
  dataTypes: readonly string[];
  /** M x N x K, as far as it is told. */
  tile: string | null;
}

/** Characters of a short name. */
const MAX_NAME = 60;

/** Characters of a canonical name. */
const MAX_CANONICAL_NAME = 200;

/** The first rule that fits a name reads it. */
const RULES: readonly Rule[] = [
  ...MEMORY,
  ...COLLECTIVES,
  ...TORCH_COMPILE,
  ...AMD,
  ...ATTENTION,
  ...CUB,
  ...MULTI_TENSOR,
  ...ATEN,
  ...ENGINES,
  ...MODELS,
  ...TENSORRT,
  ...NVIDIA,
  ...CUTLASS,
  ...TRITON,
];

/** Kernels that only run what their first template argument is. */
const WRAPPER =
  /^cutlass\w*::(?:\w+::)*(?:Kernel2?|device_kernel)$|(?:^|::)enable_(?:sm\d+|3x_kernel)|^ck_tile::kentry|_kernel_agent$/;

/** Everything that is read from a symbol. */
interface Read {
  library: string | null;
  category: KernelCategory;
  operation: string;
  variant: string;
  detail: string;
  dataTypes: readonly string[];
  tile: string | null;
}

/**
 * What a kernel's symbol says. The symbol may be mangled, demangled, plain, or cut off; what it does not
 * tell is left open. Never throws.
 *
 * @example
 * ```ts
 * import { kernelName } from "@service/core/names";
 *
 * kernelName("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn");
 * // { name: "gemm tn bf16 128x64x64", library: "cuBLAS", category: "gemm",
 * //   dataTypes: ["bf16"], tile: "128x64x64" }
 * ```
 */
export function kernelName(symbol: string): KernelName {
  const { library, category, operation, detail, dataTypes, tile } = read(symbol);
  const words = operation.split(/[_ ]/);
  const types = dataTypes.filter((type) => !words.includes(type));
  const end = [...types, tile].filter(Boolean).join(" ");
  // What is computed may be cut, what decides how fast it is may not.
  const start = bounded(`${operation} ${detail}`, Math.max(20, MAX_NAME - end.length - 1));
  return { name: bounded(`${start} ${end}`, MAX_NAME), library, category, dataTypes, tile };
}

/**
 * What stays the same of a kernel across versions and tunings: library, operation and data types. Without
 * architecture, tile, stages, split-K, algorithm and protocol, hashes and running numbers.
 *
 * @example
 * ```ts
 * import { canonicalName } from "@service/core/names";
 *
 * canonicalName("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
 * // "NCCL AllReduce sum bf16"
 * ```
 */
export function canonicalName(symbol: string): string {
  const { library, operation, variant, dataTypes } = read(symbol);
  const parts = [library ?? "kernel", operation, variant, ...dataTypes];
  return bounded(parts.filter(Boolean).join(" "), MAX_CANONICAL_NAME);
}

function read(symbol: string): Read {
  const kernel = unwrapped(signature(demangle(symbol) ?? demangleStart(symbol) ?? symbol));
  const rule = RULES.find(({ path, text }) =>
    (!path || path.test(kernel.path)) && (!text || text.test(kernel.text))
  );
  const reading = rule?.read?.(kernel) ?? {};
  return {
    library: rule?.library ?? null,
    category: reading.category ?? rule?.category ?? categoryOf(kernel.base) ??
      categoryOf(kernel.path) ?? categoryOf(signature(kernel.args[0] ?? "").path) ?? "other",
    operation: reading.operation ?? plainOperation(kernel.path),
    variant: reading.variant ?? "",
    detail: reading.detail ?? "",
    dataTypes: reading.dataTypes ?? elements(kernel),
    tile: reading.tile ?? null,
  };
}

/** The kernel inside of what launches it. */
function unwrapped(kernel: Signature): Signature {
  let found = kernel;
  for (let depth = 0; depth < 4 && WRAPPER.test(found.path) && found.args[0]; depth++) {
    found = signature(found.args.find((arg) => arg.includes("<")) ?? found.args[0]);
  }
  return found === kernel ? kernel : { ...found, text: kernel.text };
}

/** Types of the elements: of the template's arguments, of the name, or of the first parameter that has one. */
function elements({ args, base, parameters }: Signature): readonly string[] {
  const own = elementTypes(args.join(", "));
  if (own.length > 0) return own;
  const named = namedTypes(base);
  if (named.length > 0) return named;
  return elementTypes(parameters).slice(0, 1);
}

/** The function's name without what all kernels are called, and without a number at the end. */
function plainOperation(path: string): string {
  const names = path.split("::").map((name) =>
    name.replace(/^kernel_(?=[a-z])|_0x[0-9a-f]{8,}|(?<=^|_)sm\d+[af]?_/g, "")
      .replace(/(?:_?[kK]ernel(?:_?[iI]mpl)?|_impl|_[vV]?\d+|_?[sS]m\d+)+$/, "")
  );
  return names.findLast((name) => name !== "") ?? path;
}

/** The text without control characters, cut at a number of characters. */
function bounded(text: string, length: number): string {
  const clean = text.slice(0, 2 * length).replace(/[\p{C}\s]+/gu, " ").trim() || "kernel";
  return clean.length <= length ? clean : `${clean.slice(0, length - 1).replace(/\p{Cs}$/u, "")}…`;
}
