/** The writer of columns: numbers as bytes, each in as few as possible. */

import type { Quantity, Sum } from "../sum.ts";
import { Bytes } from "./bytes.ts";

/** A number of a window. */
export type Value = Quantity | Sum | null;

/** Encoding of a number; the kinds of a column are stored together, as runs of equal ones. */
export const NUMBER_KINDS = {
  zero: 0,
  natural: 1,
  negative: 2,
  double: 3,
  parts: 4,
  big: 5,
  null: 6,
} as const;

const KIND = NUMBER_KINDS;

/** A run is written as its length times this, plus its kind. */
export const RUN_FACTOR = 8;

/** Writes numbers, column after column. */
export class ColumnWriter {
  readonly #head = new Bytes();
  readonly #kinds = new Bytes();
  readonly #integers = new Bytes();
  readonly #doubles = new Bytes();
  #kind = 0;
  #run = 0;

  /** Any number. */
  value(value: Value): void {
    if (typeof value === "number") this.#number(value);
    else if (value === null) this.#note(KIND.null);
    else if (typeof value === "bigint") this.#big(value);
    else {
      this.#note(KIND.parts);
      this.#integers.varint(value.length);
      for (const part of value) this.#doubles.double(part);
    }
  }

  /** A whole number from 0 to 2^53 - 1. */
  natural(value: number): void {
    this.#integers.varint(value);
  }

  /** The step from one whole number to the next, up or down. */
  step(value: number): void {
    this.#integers.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  /** Ascending whole numbers, no two the same: most follow the one before. */
  ascending(values: number[]): void {
    this.natural(values.length);
    let before = -1;
    let run = 0;
    for (const value of values) {
      if (value === before + 1) run++;
      else {
        this.natural(run);
        this.natural(value - before);
        run = 0;
      }
      before = value;
    }
    if (run > 0) this.natural(run);
  }

  /** Discards everything that was written. */
  clear(): void {
    for (const part of [this.#head, this.#kinds, this.#integers, this.#doubles]) part.length = 0;
    this.#run = 0;
  }

  /** Ends the columns, and returns them behind `head` and behind `space` bytes for the caller. */
  bytes(head: Uint8Array, space: number): Uint8Array<ArrayBuffer> {
    this.#endRun();
    const sections = [this.#kinds, this.#integers, this.#doubles];
    for (const { length } of sections) this.#head.varint(length);
    const parts = [head, ...[this.#head, ...sections].map((part) => part.written())];
    const bytes = new Uint8Array(parts.reduce((total, { length }) => total + length, space));
    let at = space;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }

  #note(kind: number): void {
    if (kind !== this.#kind) this.#endRun();
    this.#kind = kind;
    this.#run++;
  }

  #endRun(): void {
    if (this.#run > 0) this.#kinds.varint(this.#run * RUN_FACTOR + this.#kind);
    this.#run = 0;
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
      this.#note(value > 0 ? KIND.natural : value < 0 ? KIND.negative : KIND.zero);
      if (value !== 0) this.#integers.varint(Math.abs(value));
    } else {
      this.#note(KIND.double);
      this.#doubles.double(value);
    }
  }

  #big(value: bigint): void {
    const near = Number(value);
    if (Number.isSafeInteger(near)) return this.#number(near);
    this.#note(KIND.big);
    const digits: number[] = [];
    for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= 32n) {
      digits.push(Number(rest & 0xffff_ffffn));
    }
    this.#integers.varint(2 * digits.length + (value < 0n ? 1 : 0));
    for (const digit of digits) this.#integers.varint(digit);
  }
}
