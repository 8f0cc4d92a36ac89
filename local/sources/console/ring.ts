/** Reader of the console ring that the supervisor writes; `ffi/supervisor/ring.h` describes it. */

import type { ConsoleChunk, StreamNumber } from "./console.ts";

const MAGIC = "svcring\0";
const VERSION = 1;
const HEADER_BYTES = 40;
const DATA_AT = 4_096;
const RECORD_BYTES = 24;

/** A ring behind an open file; the writer may go on, or die, meanwhile. */
export class RingReader {
  readonly #file: Deno.FsFile;
  readonly #capacity: number;
  #position = 0;
  #seen = 0;
  #lost = 0;

  /**
   * A reader from the oldest record on.
   *
   * @throws {TypeError} If the file is not a ring of the version that this reader knows.
   */
  constructor(file: Deno.FsFile) {
    this.#file = file;
    const header = new DataView(this.#bytes(0, HEADER_BYTES).buffer);
    const magic = new TextDecoder().decode(header.buffer.slice(0, 8));
    if (magic !== MAGIC || header.getUint32(8, true) !== VERSION) {
      throw new TypeError("Cannot read the console: not a ring of this version");
    }
    this.#capacity = header.getUint32(12, true);
  }

  /** Bytes that were overwritten, or passed over, before they were read. */
  get lost(): number {
    return this.#lost;
  }

  /** What was written since the last reading. */
  read(): ConsoleChunk[] {
    const { oldest, end } = this.#header();
    const from = Math.max(this.#position, oldest);
    const copy = this.#span(from, end);
    // What the writer gave up while it was copied may be torn.
    const header = this.#header();
    const whole = Math.max(from, header.oldest);
    const chunks: ConsoleChunk[] = [];
    const view = new DataView(copy.buffer);
    // Records torn at the front are left out; the next whole one starts at `oldest`.
    for (let at = whole - from; at < copy.length;) {
      const length = view.getUint32(at, true);
      const before = Number(view.getBigUint64(at + 16, true));
      this.#lost += before - this.#seen;
      this.#seen = before + length;
      const stream = view.getUint32(at + 4, true);
      if (isStream(stream)) {
        chunks.push({
          stream,
          time_ns: view.getBigUint64(at + 8, true),
          bytes: copy.slice(at + RECORD_BYTES, at + RECORD_BYTES + length),
        });
      }
      at += (RECORD_BYTES + length + 7) & ~7;
    }
    this.#position = Math.max(end, whole);
    return chunks;
  }

  /** Positions of the oldest whole record and of the end, read until both are surely of one piece. */
  #header(): { oldest: number; end: number } {
    let before = "";
    while (true) {
      const bytes = this.#bytes(0, HEADER_BYTES);
      const positions = new DataView(bytes.buffer, 16);
      const now = bytes.toHex();
      if (now === before) {
        return {
          oldest: Number(positions.getBigUint64(0, true)),
          end: Number(positions.getBigUint64(8, true)),
        };
      }
      before = now;
    }
  }

  #span(from: number, end: number): Uint8Array<ArrayBuffer> {
    const copy = new Uint8Array(Math.max(0, end - from));
    const at = from % this.#capacity;
    const first = Math.min(copy.length, this.#capacity - at);
    copy.set(this.#bytes(DATA_AT + at, first));
    copy.set(this.#bytes(DATA_AT, copy.length - first), first);
    return copy;
  }

  #bytes(at: number, length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    this.#file.seekSync(at, Deno.SeekMode.Start);
    for (let got = 0; got < length;) {
      const more = this.#file.readSync(bytes.subarray(got));
      if (more === null) throw new TypeError("Cannot read the console: the ring ends early");
      got += more;
    }
    return bytes;
  }
}

function isStream(number: number): number is StreamNumber {
  return number <= 2;
}
