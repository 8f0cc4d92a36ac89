/** Bytes that grow: varints and doubles, written one after the other. */

const INT32 = 2 ** 31;
const CHUNK = 4_096;

/** Bytes that grow. */
export class Bytes {
  #bytes = new Uint8Array(CHUNK);
  #view = new DataView(this.#bytes.buffer);
  /** Bytes written; 0 discards them. */
  length = 0;

  /** An integer from 0 to 2^53 - 1, seven bits a byte, the lowest first. */
  varint(value: number): void {
    while (value >= INT32) {
      this.#byte(value % 128 + 128);
      value = Math.floor(value / 128);
    }
    while (value > 127) {
      this.#byte(value & 127 | 128);
      value >>>= 7;
    }
    this.#byte(value);
  }

  /** A double, little-endian. */
  double(value: number): void {
    if (this.length + 8 > this.#bytes.length) this.#grow(8);
    this.#view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** A text in UTF-8 behind its length in bytes, a varint. */
  text(text: string): void {
    const encoded = new TextEncoder().encode(text);
    this.varint(encoded.length);
    if (this.length + encoded.length > this.#bytes.length) this.#grow(encoded.length);
    this.#bytes.set(encoded, this.length);
    this.length += encoded.length;
  }

  /** The bytes written so far: a view, until the next ones are written. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  #byte(value: number): void {
    if (this.length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.length++] = value;
  }

  #grow(bytes: number): void {
    const grown = new Uint8Array(Math.max(2 * this.#bytes.length, this.length + bytes));
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}
