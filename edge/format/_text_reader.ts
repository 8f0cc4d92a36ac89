/** The reader of JSON in canonical form, as the profiler writes it. */

/** The text is not in canonical form: parse it the general way. */
export class NotCanonical extends Error {}

const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const DOT = 46;
const ZERO = 48;
const NINE = 57;
/** Letters of an exponent, in lower case. */
const E = 101;
const LOWER = 32;
const SAFE_DIGITS = 15;

/** Reads JSON of a known form, without spaces, from left to right. */
export class TextReader {
  readonly text: string;
  /** Index of the character that is read next. */
  at: number;

  /** Of the text from an index on. */
  constructor(text: string, at: number) {
    this.text = text;
    this.at = at;
  }

  /** Skips `expected` if the rest of the text starts with it; returns whether it did. */
  skipIf(expected: string): boolean {
    const end = this.at + expected.length;
    // A slice copies nothing, and is compared several times as fast as `startsWith` does.
    if (this.text.slice(this.at, end) !== expected) return false;
    this.at = end;
    return true;
  }

  /** Skips `expected`, which must come next. */
  expect(expected: string): void {
    if (!this.skipIf(expected)) throw new NotCanonical();
  }

  /** Skips the match of a sticky pattern, and returns it. */
  match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [match] = pattern.exec(this.text) ?? [];
    if (match === undefined) throw new NotCanonical();
    this.at += match.length;
    return match;
  }

  /** A whole number from 0 up that a double holds. */
  natural(): number {
    const value = this.#digits();
    if (value === undefined) throw new NotCanonical();
    return value;
  }

  /** A whole number, which may be negative. */
  integer(): number {
    return this.skipIf("-") ? -this.natural() : this.natural();
  }

  /** Any number; an integer that a double may not hold is a `bigint`. */
  number(): number | bigint {
    const value = this.#digits();
    if (value !== undefined) return value;
    const { text, at: from } = this;
    const first = text.charCodeAt(from) === MINUS ? from + 1 : from;
    const integerEnd = text.charCodeAt(first) === ZERO ? first + 1 : this.#pastDigits(first);
    let at = integerEnd;
    if (text.charCodeAt(at) === DOT) at = this.#pastDigits(at + 1);
    if ((text.charCodeAt(at) | LOWER) === E) {
      const sign = text.charCodeAt(at + 1);
      at = this.#pastDigits(sign === PLUS || sign === MINUS ? at + 2 : at + 1);
    }
    this.at = at;
    const token = text.slice(from, at);
    const near = Number(token);
    if (!Number.isFinite(near)) throw new NotCanonical();
    return at > integerEnd || Number.isSafeInteger(near) ? near : BigInt(token);
  }

  /** A list of at most `max` items. */
  list<T>(read: (reader: TextReader) => T, max: number): T[] {
    const items: T[] = [];
    this.expect("[");
    if (this.skipIf("]")) return items;
    for (;; this.at++) {
      items.push(read(this));
      if (this.text.charCodeAt(this.at) !== COMMA) break;
    }
    this.expect("]");
    if (items.length > max) throw new NotCanonical();
    return items;
  }

  /** The index after digits, at least one. */
  #pastDigits(from: number): number {
    let at = from;
    while (isDigit(this.text.charCodeAt(at))) at++;
    if (at === from) throw new NotCanonical();
    return at;
  }

  /** An unsigned integer of few digits, as most numbers are; `undefined` for any other number. */
  #digits(): number | undefined {
    const { text } = this;
    let at = this.at;
    let value = 0;
    let code = text.charCodeAt(at);
    while (isDigit(code)) {
      value = value * 10 + (code - ZERO);
      code = text.charCodeAt(++at);
    }
    const length = at - this.at;
    const isPlain = length > 0 && length <= SAFE_DIGITS && code !== DOT && (code | LOWER) !== E &&
      (length === 1 || text.charCodeAt(this.at) !== ZERO);
    if (!isPlain) return undefined;
    this.at = at;
    return value;
  }
}

/** A copy of the text: a part of a longer text would keep that in memory. */
export function detached(text: string): string {
  return ` ${text}`.slice(1);
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
