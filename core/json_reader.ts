/** JSON reader: parses a text in one pass, with every digit of its integers, within bounds. */

/** Objects and arrays within each other. */
const MAX_DEPTH = 500;

/** Longest string that is sliced from the text: V8 copies such a slice. */
const MAX_SLICE = 12;

/** Most digits of an integer that is read digit by digit. */
const SAFE_DIGITS = 15;

const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const DOT = 46;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const BRACKET = 91;
const BACKSLASH = 92;
const BRACKET_END = 93;
const LOWER_E = 101;
const BRACE = 123;
const BRACE_END = 125;

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;
const WORD = /true|false|null/y;

/** Reads the value of one JSON text. */
export class JsonReader {
  readonly #text: string;
  #at = 0;
  #partsLeft: number;

  /** Of a text, with at most so many objects, arrays and members. */
  constructor(text: string, maxParts: number) {
    this.#text = text;
    this.#partsLeft = maxParts;
  }

  /**
   * The value of the text.
   *
   * @throws {SyntaxError} If it is not JSON, nested too deeply, or has too many parts.
   */
  read(): unknown {
    const value = this.#value("", 0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected();
    return value;
  }

  #value(key: string, depth: number): unknown {
    switch (this.#skipSpace()) {
      case QUOTE:
        return this.#string();
      case BRACE:
        return this.#object(depth + 1);
      case BRACKET:
        return this.#array(depth + 1);
      default:
        return this.#number(key) ?? this.#word();
    }
  }

  #object(depth: number): Record<string, unknown> {
    this.#count(depth);
    const members: Record<string, unknown> = {};
    this.#at++;
    if (this.#skipSpace() !== BRACE_END) {
      do {
        this.#count(depth);
        if (this.#skipSpace() !== QUOTE) throw this.#unexpected();
        const key = this.#string();
        if (this.#skipSpace() !== COLON) throw this.#unexpected();
        this.#at++;
        setMember(members, key, this.#value(key, depth));
      } while (this.#isMore(BRACE_END));
    }
    this.#at++;
    return members;
  }

  #array(depth: number): unknown[] {
    this.#count(depth);
    const items: unknown[] = [];
    this.#at++;
    if (this.#skipSpace() !== BRACKET_END) {
      do items.push(this.#value("", depth)); while (this.#isMore(BRACKET_END));
    }
    this.#at++;
    return items;
  }

  /** Whether a comma comes next, which it skips; if not, `end` must. */
  #isMore(end: number): boolean {
    const code = this.#skipSpace();
    if (code === COMMA) this.#at++;
    else if (code !== end) throw this.#unexpected();
    return code === COMMA;
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    let isPlain = true;
    for (let at = start + 1;; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        if (isPlain && at - start <= MAX_SLICE + 1) return text.slice(start + 1, at);
        // A longer slice would keep the whole text in memory.
        return JSON.parse(text.slice(start, at + 1));
      }
      if (code === BACKSLASH) {
        isPlain = false;
        at++;
      } else if (!(code >= SPACE)) {
        this.#at = at;
        throw this.#unexpected();
      }
    }
  }

  /** A number; `undefined` if none comes next. */
  #number(key: string): number | bigint | undefined {
    const isNanoseconds = key.endsWith("_ns");
    const short = this.#shortInteger();
    if (short !== undefined) return isNanoseconds ? BigInt(short) : short;
    NUMBER.lastIndex = this.#at;
    const [token, fraction, exponent] = NUMBER.exec(this.#text) ?? [];
    if (token === undefined) return undefined;
    this.#at += token.length;
    const near = Number(token);
    const isInteger = fraction === undefined && exponent === undefined && Number.isFinite(near);
    return isInteger && (isNanoseconds || !Number.isSafeInteger(near)) ? BigInt(token) : near;
  }

  /** An integer of few digits and without a sign, as most numbers are; `undefined` for any other. */
  #shortInteger(): number | undefined {
    const text = this.#text;
    let at = this.#at;
    let value = 0;
    let code = text.charCodeAt(at);
    for (; code >= ZERO && code <= NINE && at - this.#at <= SAFE_DIGITS;) {
      value = value * 10 + (code - ZERO);
      code = text.charCodeAt(++at);
    }
    const digits = at - this.#at;
    const isShort = digits > 0 && digits <= SAFE_DIGITS && code !== DOT &&
      (code | SPACE) !== LOWER_E && (digits === 1 || text.charCodeAt(this.#at) !== ZERO);
    if (!isShort) return undefined;
    this.#at = at;
    return value;
  }

  #word(): boolean | null {
    WORD.lastIndex = this.#at;
    const [word] = WORD.exec(this.#text) ?? [];
    if (word === undefined) throw this.#unexpected();
    this.#at += word.length;
    return word === "null" ? null : word === "true";
  }

  /** Skips white space; returns the code of the character after it, NaN at the end. */
  #skipSpace(): number {
    for (;; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== SPACE && code !== 10 && code !== 13 && code !== 9) return code;
    }
  }

  /** Counts an object, an array or a member. */
  #count(depth: number): void {
    if (depth > MAX_DEPTH) throw cannotDecode("it is nested too deeply");
    if (--this.#partsLeft < 0) throw cannotDecode("it has too many objects, arrays and members");
  }

  #unexpected(): SyntaxError {
    const at = this.#at;
    const found = at < this.#text.length ? JSON.stringify(this.#text[at]) : "end";
    return cannotDecode(`unexpected ${found} at position ${at}`);
  }
}

/** `__proto__` is a member like any other. */
function setMember(members: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") members[key] = value;
  else {
    const options = { value, enumerable: true, writable: true, configurable: true };
    Object.defineProperty(members, key, options);
  }
}

function cannotDecode(reason: string): SyntaxError {
  return new SyntaxError(`Cannot decode JSON: ${reason}`);
}
