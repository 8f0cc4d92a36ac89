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

/**
 * The sections that a comma-separated text names, in the order of the text.
 *
 * @throws {RangeError} If a name is not known; its message lists those that are.
 */
export function parseSections(text: string): Section[] {
  const names = text.split(",").map((name) => name.trim()).filter((name) => name !== "");
  const unknown = names.find((name) => !(SECTIONS as readonly string[]).includes(name));
  if (unknown !== undefined || names.length === 0) {
    throw new RangeError(
      `must be some of ${SECTIONS.join(", ")}, separated by commas: got ${
        JSON.stringify((unknown ?? text).slice(0, 40))
      }`,
    );
  }
  return SECTIONS.filter((section) => names.includes(section));
}

/** Name of a section. */
export type Section = typeof SECTIONS[number];
