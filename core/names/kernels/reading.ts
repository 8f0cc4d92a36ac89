/** What is read from a kernel's name, and the rules that read it. */

import type { Signature } from "./signature.ts";

/** What a kernel's time is spent on. */
export type KernelCategory =
  | "gemm"
  | "attention"
  | "convolution"
  | "elementwise"
  | "reduction"
  | "normalization"
  | "softmax"
  | "memory"
  | "collective"
  | "sort-and-scan"
  | "quantization"
  | "optimizer"
  | "sampling"
  | "routing"
  | "embedding"
  | "other";

/** What a rule reads from a name; what it does not say is read as from any other name. */
export interface Reading {
  category?: KernelCategory;
  /** What the kernel computes: the same in each release and tuning. */
  operation?: string;
  /** What distinguishes operations with one short name: not in that name. */
  variant?: string;
  /** What distinguishes tunings of an operation, beside the tile. */
  detail?: string;
  dataTypes?: readonly string[];
  tile?: string;
}

/** Names of one library, or of one of its kinds of kernels. */
export interface Rule {
  /** `null`: kernels of several libraries have such names. */
  library: string | null;
  /** Sought in the function with its namespaces. */
  path?: RegExp;
  /** Sought in the whole name. */
  text?: RegExp;
  category?: KernelCategory;
  read?(kernel: Signature): Reading;
}
