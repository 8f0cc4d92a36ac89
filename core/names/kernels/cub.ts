/** Kernels of CUB, Thrust and rocPRIM, also where another library has its own copy of them. */

import { spelledTypes } from "./data_types.ts";
import type { Reading, Rule } from "./reading.ts";
import type { Signature } from "./signature.ts";

/** `trampoline_kernel<wrapped_radix_sort_onesweep_config<…, key, value>, …>`. */
function rocprim({ base, args, text }: Signature): Reading {
  if (base !== "trampoline_kernel") return { dataTypes: spelledTypes(args.join(", ")).slice(0, 1) };
  const [, operation = base] = /(?:wrapped_)?(\w{1,60}?)_config(?:_selector)?</.exec(text) ?? [];
  return {
    category: /scan|sort|merge|select|partition|unique|nth/.test(operation)
      ? "sort-and-scan"
      : /reduce|histogram/.test(operation)
      ? "reduction"
      : "elementwise",
    operation: operation.replace(/_block|_onesweep/g, ""),
    dataTypes: spelledTypes(text).filter((type) => type !== "bool").slice(0, 1),
  };
}

/** Rules for CUB, Thrust and rocPRIM. */
export const CUB: readonly Rule[] = [
  { library: "rocPRIM", path: /^rocprim::/, read: rocprim },
  {
    library: "CUB",
    path: /(?:^|::)cub::.*(?:Sort|Scan|Select|Unique|RunLength|Partition|Merge)/,
    category: "sort-and-scan",
  },
  { library: "CUB", path: /(?:^|::)cub::.*(?:Reduce|Histogram)/, category: "reduction" },
  { library: "CUB", path: /(?:^|::)cub::.*(?:transform|for_each)/, category: "elementwise" },
  { library: "CUB", path: /(?:^|::)(?:hip)?cub::/ },
  {
    library: "Thrust",
    path: /(?:^|::)thrust::.*(?:ParallelFor|parallel_for|transform)/,
    category: "elementwise",
  },
  { library: "Thrust", path: /(?:^|::)thrust::/ },
];
