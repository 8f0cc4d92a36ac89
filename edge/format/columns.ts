/** Columns of numbers as bytes: each number takes as few bytes as possible. */

import type { Quantity, Sum } from "@service/core";

/** A number of a window. */
export type Value = Quantity | Sum | null;

/** Encoding of a number; the kinds of a column are stored together, as runs of equal ones. */
const [ZERO, NATURAL, NEGATIVE, DOUBLE, PARTS, BIG, NULL] = [0, 1, 2, 3, 4, 5, 6];

/** A run is written as its length times this, plus its kind. */
const KINDS = 8;

const INT32 = 2 ** 31;
const CHUNK = 4_096;

/** Writes numbers, column after column. */
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
    else if (value === null) this.#note(NULL!);
    else if (typeof value === "bigint") this.#big(value);
    else {
      this.#note(PARTS!);
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

  /** Discards everything that was written. */
  clear(): void {
    for (const part of [this.#head, this.#kinds, this.#integers, this.#doubles]) part.length = 0;
    this.#run = 0;
  }

  /** Ends the columns and returns them, after `space` bytes that the caller fills. */
  bytes(space: number): Uint8Array<ArrayBuffer> {
    this.#endRun();
    const sections = [this.#kinds, this.#integers, this.#doubles];
    for (const { length } of sections) this.#head.varint(length);
    const parts = [this.#head, ...sections];
    const bytes = new Uint8Array(parts.reduce((total, { length }) => total + length, space));
    let at = space;
    for (const part of parts) {
      bytes.set(part.written(), at);
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
    if (this.#run > 0) this.#kinds.varint(this.#run * KINDS + this.#kind);
    this.#run = 0;
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
      this.#note(value > 0 ? NATURAL! : value < 0 ? NEGATIVE! : ZERO!);
      if (value !== 0) this.#integers.varint(Math.abs(value));
    } else {
      this.#note(DOUBLE!);
      this.#doubles.double(value);
    }
  }

  /** Seven bits a byte, like the others, after the sign. */
  #big(value: bigint): void {
    this.#note(BIG!);
    const digits: number[] = [];
    for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= 32n) {
      digits.push(Number(rest & 0xffff_ffffn));
    }
    this.#integers.varint(2 * digits.length + (value < 0n ? 1 : 0));
    for (const digit of digits) this.#integers.varint(digit);
  }
}

/** Reads the columns of a {@linkcode ColumnWriter}, in the same order. */
export class ColumnReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #runsEnd: number;
  readonly #integersEnd: number;
  #runs: number;
  #kind = ZERO!;
  #run = 0;
  #integer: number;
  #double: number;

  /**
   * Reader of the bytes from {@linkcode ColumnWriter.bytes}.
   *
   * @throws {RangeError} If there are fewer or more bytes than were written.
   */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#integer = 0;
    const [kinds, integers, doubles] = [this.natural(), this.natural(), this.natural()];
    this.#runs = this.#integer;
    this.#runsEnd = this.#integer = this.#runs + kinds;
    this.#integersEnd = this.#double = this.#runsEnd + integers;
    const length = this.#integersEnd + doubles;
    if (length !== bytes.length) {
      throw new RangeError(`Cannot read columns: must have ${length} bytes: got ${bytes.length}`);
    }
  }

  /**
   * Ends the reading.
   *
   * @throws {RangeError} If the columns have more or fewer numbers than were read.
   */
  end(): void {
    const isComplete = this.#run === 0 && this.#runs === this.#runsEnd &&
      this.#integer === this.#integersEnd && this.#double === this.#bytes.length;
    if (!isComplete) throw new RangeError("Cannot read columns: they hold other numbers");
  }

  /** The next number of any kind; the caller knows which kinds its column holds. */
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

  /** The count of the next items, each of at least one byte. */
  count(): number {
    return this.#atMost(this.#bytes.length);
  }

  /** The next ascending numbers, at most `max`. */
  ascending(max: number): number[] {
    const values = new Array<number>(this.#atMost(max));
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

  #atMost(max: number): number {
    const count = this.natural();
    if (count <= max) return count;
    throw new RangeError(`Cannot read numbers: there must be at most ${max}: got ${count}`);
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
    // Twice the number of digits (one byte each at least), plus the sign.
    const head = this.#atMost(2 * this.#bytes.length + 1);
    let value = 0n;
    for (let i = 0n; i < head >> 1; i++) value |= BigInt(this.natural()) << (32n * i);
    return head % 2 === 1 ? -value : value;
  }
}

/** Whether each number is larger than the one before it. */
export function isAscending(values: readonly number[]): boolean {
  for (let i = 1; i < values.length; i++) if (values[i]! <= values[i - 1]!) return false;
  return true;
}

/** Items with their indexes, both sorted by index: mostly they are already. */
export function sortedByIndex<T>(indexes: number[], items: T[]): [indexes: number[], items: T[]] {
  if (isAscending(indexes)) return [indexes, items];
  const order = indexes.map((_, i) => i).sort((a, b) => indexes[a]! - indexes[b]!);
  return [order.map((i) => indexes[i]!), order.map((i) => items[i]!)];
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
