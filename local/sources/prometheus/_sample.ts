/** Samples: one line of an exposition, with its labels and its value. */

/** A sample as it is written. */
export interface Sample {
  name: string;
  /** Names and values alternately, without `le` and `quantile`. */
  labels: string[];
  /** Value of the label `le` or `quantile`, or `null` without it. */
  bound: string | null;
  value: number;
}

/** The line cannot be read. */
export class LineError extends Error {
  override readonly name = "LineError";
}

const TAB = 9;
const LINE_FEED = 10;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const EQUALS = 61;
const BACKSLASH = 92;
const NINE = 57;
const OPEN = 123;
const CLOSE = 125;

/** Whether a character, by its code, may be part of a name without quotes. */
const NAME_PARTS = Uint8Array.from(
  { length: 128 },
  (_, code) => /[\w:]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** After the value: a timestamp, an exemplar, or both. */
const AFTER_VALUE =
  /^(?:[-+]?[\d.]+(?:e[-+]?\d+)?)?[ \t]*(?:#[ \t]*\{[^\n]*\}[ \t]*\S+(?:[ \t]+\S+)?[ \t]*)?\r?$/i;

/**
 * The sample on the line of `text` from `start` to the line feed at `end`.
 *
 * @throws {LineError} If the line is no sample.
 */
export function readSample(text: string, start: number, end: number): Sample {
  const sample: Sample = { name: "", labels: [], bound: null, value: 0 };
  let at = skipName(text, start);
  sample.name = text.slice(start, at);
  at = skipBlanks(text, at);
  if (text.charCodeAt(at) === OPEN) at = skipBlanks(text, readLabels(text, at + 1, sample));
  if (sample.name === "") throw new LineError("a metric name is missing");
  let stop = at;
  while (stop < end && !isBlank(text.charCodeAt(stop))) stop++;
  sample.value = readNumber(text.slice(at, stop));
  if (stop < end) {
    const rest = text.slice(skipBlanks(text, stop), end);
    if (!AFTER_VALUE.test(rest)) {
      throw new LineError(`a timestamp or an exemplar must follow the value: got ${quote(rest)}`);
    }
  }
  return sample;
}

/** Reads the labels that start behind the opening brace; returns the place behind the closing brace. */
function readLabels(text: string, start: number, sample: Sample): number {
  let at = skipBlanks(text, start);
  while (text.charCodeAt(at) !== CLOSE) {
    const quoted = text.charCodeAt(at) === QUOTE;
    let stop = quoted ? closingQuote(text, at) + 1 : skipName(text, at);
    const label = quoted ? unquote(text, at, stop) : text.slice(at, stop);
    at = skipBlanks(text, stop);
    if (text.charCodeAt(at) === EQUALS) {
      at = skipBlanks(text, at + 1);
      if (label === "") throw new LineError("a label has no name");
      if (text.charCodeAt(at) !== QUOTE) {
        throw new LineError(`the value of ${quote(label)} must be quoted`);
      }
      stop = closingQuote(text, at) + 1;
      const value = unquote(text, at, stop);
      if (label === "le" || label === "quantile") sample.bound = value;
      else sample.labels.push(label, value);
      at = skipBlanks(text, stop);
    } else if (quoted && sample.name === "") sample.name = label;
    else throw new LineError(`an equals sign must follow the label ${quote(label)}`);
    if (text.charCodeAt(at) === COMMA) at = skipBlanks(text, at + 1);
    else if (text.charCodeAt(at) !== CLOSE) {
      throw new LineError("a comma or a closing brace must follow a label");
    }
  }
  return at + 1;
}

/**
 * The number in `text`, which may be `NaN` or infinite.
 *
 * @throws {LineError} If it is no number.
 */
export function readNumber(text: string): number {
  const number = Number(text);
  // Number accepts more than the format does: the empty text, and other bases.
  if (!Number.isNaN(number) && text !== "" && !isOtherBase(text)) return number;
  const word = /^([-+]?)(?:(nan)|inf(?:inity)?)\r?$/i.exec(text);
  if (!word) throw new LineError(`a number is expected: got ${quote(text)}`);
  return word[2] ? NaN : word[1] === "-" ? -Infinity : Infinity;
}

function isOtherBase(text: string): boolean {
  return text.length > 2 && text.charCodeAt(1) > NINE && /^0[xbo]/i.test(text);
}

/** The name in a comment, with or without quotes, and the place behind it. */
export function readName(text: string, start: number): { name: string; at: number } {
  if (text.charCodeAt(start) === QUOTE) {
    const at = closingQuote(text, start) + 1;
    return { name: unquote(text, start, at), at };
  }
  const at = skipName(text, start);
  return { name: text.slice(start, at), at };
}

function skipName(text: string, start: number): number {
  let at = start;
  while (NAME_PARTS[text.charCodeAt(at)] === 1) at++;
  return at;
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (isBlank(text.charCodeAt(at))) at++;
  return at;
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function closingQuote(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === LINE_FEED) break;
    if (code === BACKSLASH) at++;
  }
  throw new LineError("a quote is not closed");
}

function unquote(text: string, open: number, stop: number): string {
  const inside = text.slice(open + 1, stop - 1);
  if (!inside.includes("\\")) return inside;
  return inside.replace(/\\([\\"n])/g, (_, code) => code === "n" ? "\n" : code);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
