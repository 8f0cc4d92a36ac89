/** Labels of kernels: what their symbols say, in the form of facts. */

import type { KernelWork, Work } from "./device_facts.ts";

/** What the symbol of a kernel says. */
export function labelOf(symbol: string): Omit<KernelWork, keyof Work> {
  return { short: symbol, category: "other", library: null, data_types: [] };
}
