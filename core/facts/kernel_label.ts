/** Labels of kernels: what their symbols say, in the form of facts. */

import { Lru } from "../lru.ts";
import { kernelName } from "../names/mod.ts";
import type { KernelWork, Work } from "./device_facts.ts";

/** What the symbol of a kernel says. */
export type KernelLabel = Omit<KernelWork, keyof Work>;

/** Symbols whose labels are kept. */
const KEPT = 4096;

/** Labels of symbols; those that came before are not read again. */
export function kernelLabels(): (symbol: string) => KernelLabel {
  const known = new Lru<string, KernelLabel>({ max: KEPT });
  return function labelOf(symbol) {
    const before = known.get(symbol);
    if (before) return before;
    const { name, category, library, dataTypes } = kernelName(symbol);
    const label = { short: name, category, library, data_types: dataTypes };
    known.set(symbol, label);
    return label;
  };
}
