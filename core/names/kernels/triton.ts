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

const PLAIN = /^\w+$/;

/** Kernels of linear attention, of flash-linear-attention and its copies. */
const LINEAR_ATTENTION =
  /^(?:chunk|fused)_\w*(?:delta_rule|_fwd|_bwd|recurrent)\w*kernel|^(?:chunk|solve_tril|merge_\d+x\d+|recompute_w_u|prepare_wy|fused_gdn)_\w*kernel/;

const ATTENTION =
  /^(?:reduce_segments|sage_fwd|_?attn_(?:fwd|bwd)\w*|_?(?:fwd|bwd)_(?:grouped_)?kernel(?!_ep)\w*)$/;

/** Plain names, with the underscore or the ending that nearly all have. */
const USUAL = /^_[a-z]\w*$|^[a-z]\w*_kernel(?:_[a-z]\w*|_\d\w*)?$|^kernel_[a-z]\w*$|_triton$/;

const STATE_SPACE = /^_?(?:chunk_scan|chunk_state|state_passing|selective_scan_update|bmm_chunk)_/;

/** Rules for Triton: the last of all, for names without arguments. */
export const TRITON: readonly Rule[] = [
  { library: "Mamba", path: /^_chunk_cumsum_/, text: PLAIN, category: "sort-and-scan" },
  { library: "Mamba", path: STATE_SPACE, text: PLAIN, category: "other" },
  { library: "Triton", path: /^_p?_?matmul_ogs_/, text: PLAIN, category: "gemm", read: matmulOgs },
  { library: "Triton", path: LINEAR_ATTENTION, text: PLAIN, category: "attention" },
  { library: "Triton", path: ATTENTION, text: PLAIN, category: "attention" },
  { library: "Triton", path: USUAL, text: PLAIN },
];
