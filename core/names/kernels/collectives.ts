/** Kernels of NCCL, RCCL and of libraries of experts' parallelism. */

import { elementTypes, shortType, spelledTypes } from "./data_types.ts";
import type { Reading, Rule } from "./reading.ts";
import type { Signature } from "./signature.ts";

const KINDS = /(AllReduce|AllGather|ReduceScatter|Broadcast|Reduce|SendRecv|AllToAll\w*|Generic)/;

const NCCL_TYPE = new RegExp(
  "(?<=_)(?:bf16|f16|f32|f64|f8e4m3|f8e5m2|[iu](?:8|32|64)|half|float|double|u?int(?:8|32|64)_t|" +
    "__nv_bfloat16|rccl_bfloat16|hip_bfloat16)(?=_|$)",
);

/** `ncclDevKernel_AllReduce_Sum_bf16_RING_LL`, before 2.20 `ncclKernel_AllReduce_RING_LL_Sum_float`. */
function nccl({ base }: Signature): Reading {
  const collective = KINDS.exec(base)?.[1] ?? "collective";
  const reduces = /Reduce/.test(collective);
  const sum = reduces
    ? /_(Sum|Prod|Max|Min|MinMax|PreMulSum|SumPostDiv)(?=_|$)/i.exec(base)?.[1]
    : "";
  const [, algorithm = ""] = /_(RING|TREE|NVLS_TREE|NVLS|COLLNET\w*?|PAT)(?=_|$)/.exec(base) ?? [];
  const [, protocol = ""] = /_(LL128|LL|SIMPLE)(?=_|$)/.exec(base) ?? [];
  const [type = ""] = NCCL_TYPE.exec(base) ?? [];
  return {
    operation: [collective, sum?.toLowerCase()].filter(Boolean).join(" "),
    detail: `${algorithm.toLowerCase()} ${protocol}`.trim(),
    dataTypes: type ? [typeOf(type)] : [],
  };
}

/** `mscclKernel_Sum_hip_bfloat16_Simple_false`, `rcclGenericKernel<1, false>`. */
function msccl({ base }: Signature): Reading {
  const [, operation = ""] = /^mscclKernel_([A-Za-z]+?)_/.exec(base) ?? [];
  const type = /_(hip_bfloat16|rccl_bfloat16|half|float|double|u?int(?:8|32|64)_t)_/.exec(base)
    ?.[1];
  return {
    operation: operation ? `msccl ${operation.toLowerCase()}` : base,
    dataTypes: type ? [typeOf(type)] : [],
  };
}

function typeOf(type: string): string {
  return spelledTypes(type)[0] ?? shortType(type);
}

/** Rules for collectives. */
export const COLLECTIVES: readonly Rule[] = [
  // RCCL has the names of NCCL, but one kernel for all collectives.
  { library: "RCCL", path: /^ncclDevKernel_Generic/, category: "collective", read: nccl },
  { library: "RCCL", path: /^(?:rccl|msccl)/i, category: "collective", read: msccl },
  { library: "NCCL", path: /^nccl/, category: "collective", read: nccl },
  { library: "DeepEP", path: /(?:^|::)deep_ep::layout::/, category: "routing" },
  {
    library: "DeepEP",
    path: /(?:^|::)deep_ep::/,
    category: "collective",
    read: ({ path, args }) => ({
      operation: path.replace(/^.*deep_ep::/, "").replace("::", " "),
      dataTypes: elementTypes(args.filter((arg) => /float|half/i.test(arg)).join(", ")),
    }),
  },
  { library: "NVSHMEM", path: /^nvshmem/, category: "collective" },
];
