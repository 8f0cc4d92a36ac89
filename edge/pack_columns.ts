/** Columns of numbers as bytes: each number in as few as it needs, whatever it is. */

import type { Quantity, Sum } from "@service/core";

/** A number as a window holds it. */
export type Value = Quantity | Sum | null;

/** How a number is written; the kinds of a column lie together, and like kinds deflate to nothing. */
const [ZERO, NATURAL, NEGATIVE, DOUBLE, PARTS, BIG, NULL] = [0, 1, 2, 3, 4, 5, 6];

const INT32 = 2 ** 31;
const CHUNK = 4_096;

/** Writes numbers column after column. */
export class ColumnWriter {
  readonly #kinds = new Bytes();
  readonly #integers = new Bytes();
  readonly #doubles = new Bytes();

  /** Any number. */
  value(value: Value): void {
    if (typeof value === "number") this.#number(value);
    else if (value === null) this.#kinds.byte(NULL!);
    else if (typeof value === "bigint") this.#big(value);
    else {
      this.#kinds.byte(PARTS!);
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

  /** What was written. */
  bytes(): Uint8Array<ArrayBuffer> {
    const head = new Bytes();
    const parts = [this.#kinds, this.#integers];
    for (const { length } of parts) head.varint(length);
    return concat([head, ...parts, this.#doubles].map((part) => part.written()));
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
      this.#kinds.byte(value > 0 ? NATURAL! : value < 0 ? NEGATIVE! : ZERO!);
      if (value !== 0) this.#integers.varint(Math.abs(value));
    } else {
      this.#kinds.byte(DOUBLE!);
      this.#doubles.double(value);
    }
  }

  /** Seven bits a byte, like the others, after the sign. */
  #big(value: bigint): void {
    this.#kinds.byte(BIG!);
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
  #kind: number;
  #integer: number;
  #double: number;

  /** For what {@linkcode ColumnWriter.bytes} gave. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#integer = 0;
    const kinds = this.natural();
    const integers = this.natural();
    this.#kind = this.#integer;
    this.#integer = this.#kind + kinds;
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

  /** The next step. */
  step(): number {
    const value = this.natural();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  #value(): Value {
    const kind = this.#bytes[this.#kind++];
    switch (kind) {
      case ZERO:
        return 0;
      case NATURAL:
        return this.natural();
      case NEGATIVE:
        return -this.natural();
      case DOUBLE:
        return this.#nextDouble();
      case PARTS:
        return Array.from({ length: this.natural() }, () => this.#nextDouble());
      case BIG:
        return this.#big();
      case NULL:
        return null;
      default:
        throw new RangeError(`Cannot read a number: its kind must be known: got ${kind}`);
    }
  }

  #nextDouble(): number {
    const value = this.#view.getFloat64(this.#double, true);
    this.#double += 8;
    return value;
  }

  #big(): bigint {
    const head = this.natural();
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

function concat(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
