/** Columns of numbers as bytes: each number in as few as it needs, whatever it is. */

import type { Quantity, Sum } from "@service/core";

/** A number as a window holds it. */
export type Value = Quantity | Sum | null;

/** How a number is written; the kinds lie together, as runs of the same. */
const [ZERO, NATURAL, NEGATIVE, DOUBLE, PARTS, BIG, NULL] = [0, 1, 2, 3, 4, 5, 6];

/** A run is written as its length times this, and its kind. */
const KINDS = 8;

const INT32 = 2 ** 31;
const CHUNK = 4_096;

/** Writes numbers column after column; may be cleared and used again. */
export class ColumnWriter {
  readonly #head = new Bytes();
  readonly #kinds = new Bytes();
  readonly #integers = new Bytes();
  readonly #doubles = new Bytes();
  #kind = ZERO!;
  #run = 0;

  /** Any number. */
  value(value: Value): void {
    if (typeof value === "number") this.#number(value);
    else if (value === null) this.#tell(NULL!);
    else if (typeof value === "bigint") this.#big(value);
    else {
      this.#tell(PARTS!);
      this.#integers.varint(value.length);
      for (const part of value) this.#doubles.double(part);
    }
  }

  /** A whole number from 0 to 2^53. */
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

  /** Forgets what was written. */
  clear(): void {
    for (const part of [this.#head, this.#kinds, this.#integers, this.#doubles]) part.length = 0;
    this.#run = 0;
  }

  /** What was written, behind `space` bytes for other things: the end of it. */
  bytes(space: number): Uint8Array<ArrayBuffer> {
    this.#endRun();
    this.#head.varint(this.#kinds.length);
    this.#head.varint(this.#integers.length);
    const parts = [this.#head, this.#kinds, this.#integers, this.#doubles];
    const whole = new Uint8Array(parts.reduce((total, { length }) => total + length, space));
    let at = space;
    for (const part of parts) {
      whole.set(part.written(), at);
      at += part.length;
    }
    return whole;
  }

  #tell(kind: number): void {
    if (kind !== this.#kind) this.#endRun();
    this.#kind = kind;
    this.#run++;
  }

  #endRun(): void {
    if (this.#run > 0) this.#kinds.varint(this.#run * KINDS + this.#kind);
    this.#run = 0;
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
      this.#tell(value > 0 ? NATURAL! : value < 0 ? NEGATIVE! : ZERO!);
      if (value !== 0) this.#integers.varint(Math.abs(value));
    } else {
      this.#tell(DOUBLE!);
      this.#doubles.double(value);
    }
  }

  /** Seven bits a byte, like the others, after the sign. */
  #big(value: bigint): void {
    this.#tell(BIG!);
    const digits: number[] = [];
    for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= 32n) {
      digits.push(Number(rest & 0xffff_ffffn));
    }
    this.#integers.varint(2 * digits.length + (value < 0n ? 1 : 0));
    for (const digit of digits) this.#integers.varint(digit);
  }
}

/** Reads what a {@linkcode ColumnWriter} wrote, in the same order. */
export class ColumnReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #runs: number;
  #kind = ZERO!;
  #run = 0;
  #integer: number;
  #double: number;

  /** For what {@linkcode ColumnWriter.bytes} gave. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#integer = 0;
    const kinds = this.natural();
    const integers = this.natural();
    this.#runs = this.#integer;
    this.#integer = this.#runs + kinds;
    this.#double = this.#integer + integers;
  }

  /** The next number of any kind; who reads knows which its column holds. */
  value<T extends Value>(): T {
    return this.#value() as T;
  }

  /** The next whole number. */
  natural(): number {
    const bytes = this.#bytes;
    let byte = bytes[this.#integer++]!;
    if (byte < 128) return byte;
    let value = byte & 127;
    let scale = 128;
    do {
      byte = bytes[this.#integer++]!;
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }

  /** How many things come next, of which each has a byte at least. */
  count(): number {
    return this.#atMost(this.#bytes.length);
  }

  /** The next ascending numbers, of which there can be so many. */
  ascending(most: number): number[] {
    const values = new Array<number>(this.#atMost(most));
    let value = -1;
    for (let i = 0; i < values.length;) {
      const end = Math.min(i + this.natural(), values.length);
      while (i < end) values[i++] = ++value;
      if (i < values.length) values[i++] = value += this.natural();
    }
    return values;
  }

  /** The next step. */
  step(): number {
    const value = this.natural();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  #atMost(most: number): number {
    const count = this.natural();
    if (count <= most) return count;
    throw new RangeError(`Cannot read numbers: there must be at most ${most}: got ${count}`);
  }

  #value(): Value {
    if (this.#run-- === 0) this.#nextRun();
    switch (this.#kind) {
      case ZERO:
        return 0;
      case NATURAL:
        return this.natural();
      case NEGATIVE:
        return -this.natural();
      case DOUBLE:
        return this.#nextDouble();
      case PARTS:
        return Array.from({ length: this.count() }, () => this.#nextDouble());
      case BIG:
        return this.#big();
      case NULL:
        return null;
      default:
        throw new RangeError(`Cannot read a number: its kind must be known: got ${this.#kind}`);
    }
  }

  #nextRun(): void {
    const integer = this.#integer;
    this.#integer = this.#runs;
    const run = this.natural();
    this.#runs = this.#integer;
    this.#integer = integer;
    this.#kind = run % KINDS;
    this.#run = Math.floor(run / KINDS) - 1;
  }

  #nextDouble(): number {
    const value = this.#view.getFloat64(this.#double, true);
    this.#double += 8;
    return value;
  }

  #big(): bigint {
    // Twice the number of digits, of which each has a byte at least, and the sign.
    const head = this.#atMost(2 * this.#bytes.length + 1);
    let value = 0n;
    for (let i = 0n; i < head >> 1; i++) value |= BigInt(this.natural()) << (32n * i);
    return head % 2 === 1 ? -value : value;
  }
}

/** Bytes that grow. */
class Bytes {
  #bytes = new Uint8Array(CHUNK);
  #view = new DataView(this.#bytes.buffer);
  length = 0;

  byte(value: number): void {
    if (this.length === this.#bytes.length) this.#grow();
    this.#bytes[this.length++] = value;
  }

  /** Seven bits a byte, lowest first. */
  varint(value: number): void {
    while (value >= INT32) {
      this.byte(value % 128 + 128);
      value = Math.floor(value / 128);
    }
    while (value > 127) {
      this.byte(value & 127 | 128);
      value >>>= 7;
    }
    this.byte(value);
  }

  double(value: number): void {
    if (this.length + 8 > this.#bytes.length) this.#grow();
    this.#view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  written(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  #grow(): void {
    const grown = new Uint8Array(2 * this.#bytes.length);
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}
