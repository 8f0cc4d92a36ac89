/** Labels of kernels: what their symbols say, in the form of facts. */

import { kernelName } from "../names/mod.ts";
import type { KernelWork, Work } from "./device_facts.ts";

/** What the symbol of a kernel says. */
export type KernelLabel = Omit<KernelWork, keyof Work>;

/** Labels of symbols, each read once: devices run the same kernels. */
export function kernelLabels(): (symbol: string) => KernelLabel {
  const known = new Map<string, KernelLabel>();
  return function labelOf(symbol) {
    const before = known.get(symbol);
    if (before) return before;
    const { name, category, library, dataTypes } = kernelName(symbol);
    const label = { short: name, category, library, data_types: dataTypes };
    known.set(symbol, label);
    return label;
  };
}
