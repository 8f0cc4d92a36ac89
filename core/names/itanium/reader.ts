/** Cursor over a mangled name, with the parts that substitutions refer to. */

import type { Node } from "./node.ts";

/** Nested constructs, in names as in print: real names have some forty. */
const MAX_DEPTH = 200;

/** The name is not of the grammar, or passes a limit. */
export class Malformed extends Error {}

/** The productions of the grammar that refer to each other. */
export interface Grammar {
  encoding(reader: Reader, isTop: boolean): Node;
  name(reader: Reader): Node;
  unqualified(reader: Reader, scope: Node | null): Node;
  templateArgs(reader: Reader): readonly Node[];
  operator(reader: Reader): Node;
  type(reader: Reader): Node;
  parameters(reader: Reader): readonly Node[];
  expression(reader: Reader): Node;
  literal(reader: Reader): Node;
}

/** How a name is written. */
export interface Form {
  /** `sr3std…` as today's compilers have it: names up to `E`, instead of a type. */
  isModern: boolean;
  /** The end is missing: all that is open ends with the text. */
  isCut: boolean;
}

/** Cursor over a mangled name. */
export class Reader {
  readonly text: string;
  readonly grammar: Grammar;
  readonly form: Form;
  at = 0;
  /** Parts that `S_`, `S0_`, … stand for. */
  readonly substitutions: Node[] = [];
  #depth = 0;

  constructor(text: string, grammar: Grammar, form: Form) {
    this.text = text;
    this.grammar = grammar;
    this.form = form;
  }

  /** The character at the cursor, or one after it; empty past the end. */
  peek(ahead = 0): string {
    return this.text.charAt(this.at + ahead);
  }

  /** Whether the text goes on so. */
  follows(expected: string): boolean {
    return this.text.startsWith(expected, this.at);
  }

  /** Whether a name that is cut off has come to its end. */
  get isOver(): boolean {
    return this.form.isCut && this.at >= this.text.length;
  }

  /** Whether the text goes on so; moves past it. */
  takes(expected: string): boolean {
    if (expected === "E" && this.isOver) return true;
    const follows = this.follows(expected);
    if (follows) this.at += expected.length;
    return follows;
  }

  /** Moves past the expected text. */
  expect(expected: string): void {
    if (!this.takes(expected) && !this.isOver) throw new Malformed();
  }

  /** The next character, moved past. */
  next(): string {
    const character = this.peek();
    this.at++;
    return character;
  }

  /** The digits at the cursor, perhaps none. */
  digits(): string {
    const start = this.at;
    while (isDigit(this.text.charCodeAt(this.at))) this.at++;
    return this.text.slice(start, this.at);
  }

  /** The number at the cursor. */
  number(): number {
    const digits = this.digits();
    if (!digits || digits.length > 9) throw new Malformed();
    return Number(digits);
  }

  /** `_` is 0, `0_` is 1, and so on. */
  ordinal(): number {
    const number = this.peek() === "_" || this.isOver ? 0 : this.number() + 1;
    this.expect("_");
    return number;
  }

  /** Items up to `E`, which is moved past. */
  untilEnd(item: (reader: Reader) => Node): readonly Node[] {
    const items: Node[] = [];
    while (!this.takes("E")) items.push(item(this));
    return items;
  }

  /** A new candidate of substitution. */
  remember(node: Node): Node {
    this.substitutions.push(node);
    return node;
  }

  /** What `read` reads, one level deeper. */
  deeper(read: (reader: Reader) => Node): Node {
    if (++this.#depth > MAX_DEPTH) throw new Malformed();
    const node = read(this);
    this.#depth--;
    return node;
  }
}

/** Whether a character's code is that of a digit. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
