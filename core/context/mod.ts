/** Context: findings and facts as one text for a language model, within a budget of tokens. */

export { type FindingsAnswer, findingsAnswer, findingsShape } from "./findings_answer.ts";
export { guideText } from "./guide.ts";
export { runSubject, type RunSubjectOptions } from "./run_subject.ts";
export { parseSections, type Section, SECTIONS } from "./sections.ts";
export { DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS, sectionNames, tokenBudget } from "./parameters.ts";
export { MAX_INSTANCES, readSubject, type SubjectQuery } from "./read_subject.ts";
export type { Subject } from "./subject.ts";
export { contextText, type TextOptions } from "./text.ts";
