/** Kernels of FlashAttention, FlashMLA, xFormers and of what copied them. */

import { elementTypes } from "./data_types.ts";
import { cuteTile } from "./cutlass.ts";
import type { Reading, Rule } from "./reading.ts";
import { type Signature, signature } from "./signature.ts";

/** `flash_fwd_kernel<Flash_fwd_kernel_traits<head, M, N, warps, …, type>, …>`. */
function flash2({ args }: Signature): Reading {
  const traits = signature(args[0] ?? "");
  const [, m, n] = traits.args;
  return { tile: m && n && `${m}x${n}`, dataTypes: elementTypes(args[0] ?? "") };
}

/** `FlashAttnFwdSm90<CollectiveMainloopFwdSm90<…, tuple<M, N, K>, …, type, …>>`. */
function flash3({ path, text }: Signature): Reading {
  const [, operation = path] = /::(Flash\w+?)(?:Sm\d+)?$/.exec(path) ?? [];
  const isMain = /CollectiveMainloop/.test(text);
  const dataTypes = elementTypes(text).slice(0, 1);
  return { operation, dataTypes, tile: isMain ? cuteTile(text) : undefined };
}

/** `fmha_cutlassF_bf16_aligned_64x128_rf_sm80`. */
function memoryEfficient({ base }: Signature): Reading {
  const [, direction, type, tile] = /^fmha_cutlass([FB])_([a-z]+\d+)_\w*?(\d+x\d+)/.exec(base) ??
    [];
  return {
    operation: direction === "B" ? "fmha backward" : "fmha forward",
    dataTypes: type ? [type.replace(/^f(?=\d)/, "fp")] : [],
    tile,
  };
}

/** Rules for libraries of attention. */
export const ATTENTION: readonly Rule[] = [
  {
    library: "FlashMLA",
    path: /flash_fwd\w*mla|(?:^|::)flash_mla|FlashMLA/i,
    category: "attention",
  },
  {
    library: "FlashAttention 2",
    path: /^(?:pytorch_flash::|flash::)?flash_(?:fwd|bwd)_/,
    category: "attention",
    read: flash2,
  },
  { library: "FlashAttention 3", path: /^flash::Flash/, category: "attention", read: flash3 },
  { library: "FlashAttention 3", path: /^flash::prepare_varlen/, category: "attention" },
  { library: "xFormers", path: /^fmha_cutlass[FB]_/, category: "attention", read: memoryEfficient },
  {
    library: "xFormers",
    text: /PyTorchMemEffAttention|attention_kernel_batched_impl/,
    category: "attention",
  },
];
