/** Kernels of Triton that somebody wrote: plain names, most of which end with `_kernel`. */

import type { Reading, Rule } from "./reading.ts";
import { shortType } from "./data_types.ts";
import type { Signature } from "./signature.ts";

/** `_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1` of triton_kernels: layouts, types, tile. */
function matmulOgs({ base }: Signature): Reading {
  const [, layout = "", types = "", tile] =
    /^_p?_?matmul(?:_ogs)?_([NT]{3})_(\w+?)_(\d+x\d+x\d+)/.exec(base) ?? [];
  const [, input = "", weights = ""] = types.split("x").length >= 3
    ? types.match(/^\w+?x(\w+?)x(\w+)$/) ?? []
    : [];
  const dataTypes = [input, weights].filter(Boolean).map((type) =>
    shortType(type.replace("mx", ""))
  );
  return { operation: `matmul_ogs ${layout}`, dataTypes: [...new Set(dataTypes)], tile };
}

const WRITTEN: readonly Rule[] = [
  { library: "Mamba", path: /^_(?:chunk_cumsum)_/, category: "sort-and-scan" },
  {
    library: "Mamba",
    path:
      /^_?(?:chunk_scan|chunk_state|state_passing|selective_scan_update|bmm_chunk|mamba)\w*(?:_|$)/,
    category: "other",
  },
  { library: "Triton", path: /^_p?_?matmul_ogs_/, category: "gemm", read: matmulOgs },
  {
    library: "Triton",
    path: /^(?:chunk|fused)_\w*(?:delta_rule|_fwd|_bwd|recurrent)\w*kernel|^chunk_\w*kernel/,
    category: "attention",
  },
  {
    library: "Triton",
    path:
      /^(?:reduce_segments|sage_fwd|_?attn_fwd\w*|_?attn_bwd\w*|_?fwd_kernel(?!_ep)\w*|_?bwd_kernel(?!_ep)\w*)$/,
    category: "attention",
  },
  {
    library: "Triton",
    path: /^_[a-z]\w*$|^[a-z]\w*_kernel(?:_[a-z]\w*|_\d\w*)?$|^kernel_[a-z]\w*$|_triton$/,
  },
];

/** Rules for Triton: the last of all, for plain names only. */
export const TRITON: readonly Rule[] = WRITTEN.map((rule) => ({ ...rule, text: /^\w+$/ }));
