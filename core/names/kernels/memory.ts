/** Copies and fills that are no kernels, as profilers name them. */

import type { Rule } from "./reading.ts";

/** Rules for copies and fills. */
export const MEMORY: readonly Rule[] = [
  {
    library: null,
    text: /^\[?(?:CUDA |HIP )?mem(?:cpy|set)(?![\w:])|^(?:Copy|Fill)(?:Host|Device|Buffer)\w*$/i,
    category: "memory",
    read: ({ text }) => ({
      operation: text.replace(/[[\]]|CUDA |HIP /g, "").replace(/ \(.*/, ""),
      detail: / \((.*)\)/.exec(text)?.[1],
      dataTypes: [],
    }),
  },
];
