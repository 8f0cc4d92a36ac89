/** Readings: figures and headings behind a level word, such as `error: 0.012`, which are no errors. */

/** No two parts of these patterns match the same text, so that no line takes long. */
const NUMBER = String
  .raw`(?:[-+~<>=≤≥]{0,2}(?:\d[\d_]*(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+|nan|inf)\b|--?(?=[\s,;|]|$))`;
/** Units as they follow a figure. */
const UNIT = String
  .raw`(?:%|°?[CFK]|[munµ]?s|min|[kKMGT]?i?[Bb]|[kMGT]?Hz|[mk]?[WVAJ]|m?eV|px|dB|bits?|[cmn]m|Å|k?(?:cal|J)/mol|g/cm3|sec(?:onds)?|tokens?|steps?|samples?)(?![\w(])`;
/** Figures with units and short names, in brackets or not: `0.1 ± 0.02`, `0 (0 %)`, `[0.1, 0.2]`, `3 of 12`. */
const FIGURES = String
  .raw`[\s([{]*${NUMBER}(?: ?${UNIT})?(?:[\s,;|/()[\]{}±]+(?:of )?(?:[\w-]+[:=] ?)?${NUMBER}(?: ?${UNIT})?)*[\s)\]}.;|]*`;
const NOTHING = String
  .raw`(?:none|null|nil|undefined|false|true|no|yes|ok|okay|on|off|n/a|na|zero|passed|enabled|disabled|\[ ?\]|\{ ?\}|\( ?\)|""|'')[.\s|]*`;
const READING = new RegExp(`^[\\s:=|]*(?:${FIGURES}|${NOTHING})$`, "i");

/** Nouns that make a name of the level word before them: `ERROR rate`, `CRITICAL path`. */
const NAMED = new RegExp(
  "^(?:" + [
    "rates?|bars?|handl(?:ing|ers?)|correction|analysis|margins?|budget|counts?|logs?|levels?|limits?",
    "thresholds?|tolerance|estimates?|estimation|terms?|paths?|sections?|mass|temperatures?|points?",
    "densit(?:y|ies)|pressures?|angles?|values?|metrics?|summary|reports?|statistics|stats",
    "propagation|functions?|models?|distributions?|histograms?|tables?|types?|signs?|labels?",
    "lights?|thinking|mode|recovery|detection|injection|checking|reporting|tracking|norms?|ratio",
  ].join("|") + String.raw`)\b`,
  "i",
);
const FAILING =
  /\b(?:fail\w*|exceed\w*|cannot|can't|could not|couldn't|unable|exception|invalid|not|timed out|lost|missing|too|above|below|reached|refused|denied|out of)\b/i;

/** The type and the value of a variable, where code is printed: `error: str | None = None`. */
const DECLARATION = /^[A-Za-z][\w.]*(?:\[[\w., |]*\])?(?: \| \w+)* = \S/;

/** Most characters of a reading. */
const MAX_LENGTH = 200;

/** Whether the text behind a level word and its colon is a figure, code, or says that there is nothing. */
export function isReading(text: string): boolean {
  return text.length <= MAX_LENGTH && (READING.test(text) || DECLARATION.test(text));
}

/** Whether the words behind a level word without a colon make a name with it, or are figures. */
export function isNamed(text: string): boolean {
  return isReading(text) || NAMED.test(text) && !FAILING.test(text);
}
