/** Base of findings about hardware: what its counters tell is sure. */

/** What findings about hardware have in common. */
export const BASE = {
  class: "device" as const,
  confidence: "high" as const,
  doubt: "",
  explains: [] as string[],
};
