/** The reader of columns: gives back the numbers that were written, and checks each of them. */

import { isSum, type Quantity, type Sum } from "../sum.ts";
import { NUMBER_KINDS as KIND, RUN_FACTOR } from "./column_writer.ts";
import { DamagedError } from "./error.ts";

/** Bits in the first four bytes of a varint, which are read as small integers. */
const SMALL_BITS = 28;

/** Weight of the eighth byte of a varint, the last. */
const LAST_SCALE = 2 ** 49;

/** Digits of 32 bits that the largest magnitude has. */
const MAX_DIGITS = 32;

/** Parts of one exact sum: a double has 53 bits, and the range of doubles 2,098. */
const MAX_PARTS = 41;

/**
 * Reads the columns of a `ColumnWriter`, in the same order. Every function throws a
 * {@linkcode DamagedError} where the next number cannot be what was written.
 */
export class ColumnReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #runsEnd: number;
  readonly #integersEnd: number;
  #runs: number;
  #kind = -1;
  #run = 0;
  #integer = 0;
  #double: number;
  readonly #magnitude: number;

  /** Reader of the columns from an index to the end, whose numbers have at most this magnitude. */
  constructor(bytes: Uint8Array, at: number, magnitude: number) {
    this.#magnitude = magnitude;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#integersEnd = bytes.length;
    this.#integer = at;
    const [kinds, integers, doubles] = [this.natural(), this.natural(), this.natural()];
    this.#runs = this.#integer;
    this.#runsEnd = this.#integer = this.#runs + kinds;
    this.#integersEnd = this.#double = this.#runsEnd + integers;
    const length = this.#integersEnd + doubles;
    if (length !== bytes.length) {
      throw new DamagedError(`the columns must end at byte ${length}: got ${bytes.length}`);
    }
  }

  /** Ends the reading: all numbers must have been read. */
  end(): void {
    const isComplete = this.#run === 0 && this.#runs === this.#runsEnd &&
      this.#integer === this.#integersEnd && this.#double === this.#bytes.length;
    if (!isComplete) throw new DamagedError("the columns hold other numbers");
  }

  /** The next number, which may be an integer of any size. */
  quantity(): Quantity {
    if (this.#peekKind() !== KIND.big) return this.double();
    this.#nextKind();
    return this.#big();
  }

  /** The next exact sum. */
  sum(): Sum {
    if (this.#peekKind() !== KIND.parts) return this.double() + 0;
    this.#nextKind();
    const length = this.count(MAX_PARTS);
    const parts = Array.from({ length }, () => this.#nextDouble());
    if (!isSum(parts)) throw new DamagedError("the parts of a sum must be in canonical form");
    return parts;
  }

  /** The next exact sum, which is not negative. */
  increase(): Sum {
    const sum = this.sum();
    if ((typeof sum === "number" ? sum : sum[0]!) < 0) {
      throw new DamagedError("an increase must not be negative");
    }
    return sum;
  }

  /** The next number as a double. */
  double(): number {
    switch (this.#nextKind()) {
      case KIND.zero:
        return 0;
      case KIND.natural:
        return this.#positive();
      case KIND.negative:
        return -this.#positive();
      case KIND.double:
        return this.#nextDouble();
      default:
        throw this.#wrongKind();
    }
  }

  /** The next number as a double, or `null`. */
  nullableDouble(): number | null {
    if (this.#peekKind() !== KIND.null) return this.double();
    this.#nextKind();
    return null;
  }

  /** The next number, which counts something. */
  times(): number {
    switch (this.#nextKind()) {
      case KIND.zero:
        return 0;
      case KIND.natural:
        return this.#positive();
      default:
        throw this.#wrongKind();
    }
  }

  /** The next whole number, which may be negative or large. */
  integer(): number | bigint {
    const value = this.quantity();
    if (typeof value === "bigint" || Number.isSafeInteger(value)) return value;
    throw new DamagedError(`a number must be whole: got ${value}`);
  }

  /** The next whole number that has no kind. */
  natural(): number {
    const bytes = this.#bytes;
    let value = 0;
    let at = this.#integer;
    for (let shift = 0; shift < SMALL_BITS && at < this.#integersEnd; shift += 7) {
      const byte = bytes[at++]!;
      value |= (byte & 127) << shift;
      if (byte >= 128) continue;
      this.#integer = at;
      return value;
    }
    return this.#large(value, at);
  }

  /** The number of the next items. */
  count(max: number): number {
    const count = this.natural();
    if (count <= max) return count;
    throw new DamagedError(`there must be at most ${max} items: got ${count}`);
  }

  /** The next ascending numbers below `end`, at most `max`. */
  ascending(end: number, max: number): number[] {
    const values = new Array<number>(this.count(Math.min(end, max)));
    let value = -1;
    for (let i = 0; i < values.length;) {
      const runEnd = i + this.natural();
      if (runEnd > values.length) throw new DamagedError("a run of indexes is too long");
      while (i < runEnd) values[i++] = ++value;
      if (i === values.length) break;
      const distance = this.natural();
      if (distance === 0) throw new DamagedError("indexes must ascend");
      values[i++] = value += distance;
    }
    if (value >= end) throw new DamagedError(`an index must be below ${end}: got ${value}`);
    return values;
  }

  /** The next step. */
  step(): number {
    const value = this.natural();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  /** The number of which the first bytes, read up to an index, are in `value`. */
  #large(value: number, at: number): number {
    for (let scale = 2 ** SMALL_BITS; at < this.#integersEnd && scale <= LAST_SCALE; scale *= 128) {
      const byte = this.#bytes[at++]!;
      value += (byte & 127) * scale;
      if (byte >= 128) continue;
      this.#integer = at;
      if (value > Number.MAX_SAFE_INTEGER) throw new DamagedError("an integer is too large");
      return value;
    }
    throw new DamagedError("an integer is cut, or too large");
  }

  #positive(): number {
    const value = this.natural();
    if (value === 0) throw new DamagedError("a zero must be written as such");
    return value;
  }

  #nextKind(): number {
    const kind = this.#peekKind();
    this.#run--;
    return kind;
  }

  #peekKind(): number {
    if (this.#run === 0) this.#nextRun();
    return this.#kind;
  }

  #wrongKind(): DamagedError {
    return new DamagedError(`a number is of the wrong kind: ${this.#kind}`);
  }

  #nextRun(): void {
    const [integer, end] = [this.#integer, this.#integersEnd];
    if (this.#runs >= this.#runsEnd) throw new DamagedError("there are too few numbers");
    this.#integer = this.#runs;
    const run = this.natural();
    this.#runs = this.#integer;
    this.#integer = integer;
    if (this.#runs > this.#runsEnd || integer > end) throw new DamagedError("a run is cut");
    this.#kind = run % RUN_FACTOR;
    this.#run = Math.floor(run / RUN_FACTOR);
    if (this.#run === 0) throw new DamagedError("a run must not be empty");
  }

  #nextDouble(): number {
    if (this.#double + 8 > this.#bytes.length) throw new DamagedError("a number is cut");
    const value = this.#view.getFloat64(this.#double, true);
    this.#double += 8;
    if (!(Math.abs(value) <= this.#magnitude)) {
      throw new DamagedError(`a number must be within ±${this.#magnitude}: got ${value}`);
    }
    return value;
  }

  #big(): bigint {
    // Twice the number of digits, plus the sign.
    const head = this.count(2 * MAX_DIGITS + 1);
    let value = 0n;
    for (let i = 0n; i < head >> 1; i++) {
      const digit = this.natural();
      if (digit >= 2 ** 32) throw new DamagedError("a digit has at most 32 bits");
      value |= BigInt(digit) << (32n * i);
    }
    const near = Number(value);
    if (Number.isSafeInteger(near) || near > this.#magnitude) {
      throw new DamagedError("a large integer is too small or too large");
    }
    return head % 2 === 1 ? -value : value;
  }
}
