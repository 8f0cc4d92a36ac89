/** Sections of the context text: one list for the query, the tools and the page. */

/** Names of the sections, in the order of the text. */
export const SECTIONS = [
  "about",
  "findings",
  "completeness",
  "errors",
  "gpu_time",
  "devices",
  "engine",
  "host",
  "traces",
  "metrics",
  "descriptions",
  "instructions",
] as const;

/** Name of a section. */
export type Section = typeof SECTIONS[number];
