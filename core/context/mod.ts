/** Context: findings and facts as one text for a language model, within a budget of tokens. */

export { GUIDE } from "./instructions.ts";
export { parseSections, type Section, SECTIONS } from "./sections.ts";
export { sectionNames, tokenBudget } from "./parameters.ts";
export type { Subject } from "./subject.ts";
export { contextText, DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS, type TextOptions } from "./text.ts";
