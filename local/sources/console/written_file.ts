/** A regular file that the workload writes itself: read by offset, at the reader's own pace. */

import type { ConsoleSink, StreamNumber } from "./console.ts";

/** The stream of a file, and the offset at which the workload began to write. */
export interface WrittenFileOptions {
  stream: StreamNumber;
  from: number;
}

/** Most bytes of one reading: about a millisecond of work. */
export const PIECE_BYTES = 1_048_576;

/** Bytes at the beginning of a file by which it is known again. */
const HEAD_BYTES = 64;

const NEWLINE = Uint8Array.of(10);

/** A file that is written while it is read; it may be emptied, and written again. */
export class WrittenFile {
  readonly #file: Deno.FsFile;
  readonly #stream: StreamNumber;
  readonly #buffer = new Uint8Array(PIECE_BYTES);
  #at: number;
  #size: number;
  #head: Uint8Array;
  /** Whether it was emptied, and nothing read since: a writer that keeps its offset leaves a hole before it. */
  #isInHole = false;

  /** A reader of an open file. */
  constructor(file: Deno.FsFile, { stream, from }: WrittenFileOptions) {
    this.#file = file;
    this.#stream = stream;
    this.#at = this.#size = from;
    this.#head = this.#readHead();
  }

  /** Bytes that are written and not read yet. */
  get unread_bytes(): number {
    return Math.max(0, this.#file.statSync().size - this.#at);
  }

  /** Passes on the next bytes, at most {@linkcode PIECE_BYTES}. */
  read(console: ConsoleSink, time_ns: bigint): void {
    const { size } = this.#file.statSync();
    if (size < this.#at || size > this.#at && !this.#isSame()) this.#restart(console, time_ns);
    this.#size = size;
    if (size <= this.#at) return;
    const bytes = this.#bytes(this.#at, PIECE_BYTES);
    this.#at += bytes.length;
    this.#write(bytes, { console, time_ns });
    if (this.#head.length < HEAD_BYTES) this.#head = this.#readHead();
  }

  /** Whether its beginning is as it was: a file that was emptied may be as long again. */
  #isSame(): boolean {
    const head = this.#readHead();
    return this.#head.every((byte, at) => head[at] === byte);
  }

  /** Only what was read before: the workload may write over older text. */
  #readHead(): Uint8Array {
    return this.#bytes(0, Math.min(HEAD_BYTES, this.#at)).slice();
  }

  #restart(console: ConsoleSink, time_ns: bigint): void {
    const name = ["", "stdout", "stderr"][this.#stream];
    console.warn(`the file of ${name} was emptied: it is read from its new beginning`);
    console.lost(Math.max(0, this.#size - this.#at));
    // What was there of a line is no part of the next one.
    console.write({ stream: this.#stream, time_ns, bytes: NEWLINE });
    this.#at = 0;
    this.#head = new Uint8Array(0);
    this.#isInHole = true;
  }

  #write(
    bytes: Uint8Array,
    { console, time_ns }: { console: ConsoleSink; time_ns: bigint },
  ): void {
    const first = this.#isInHole ? bytes.findIndex((byte) => byte !== 0) : 0;
    if (first < 0) return;
    this.#isInHole = false;
    console.write({ stream: this.#stream, time_ns, bytes: bytes.subarray(first) });
  }

  /** At most `length` bytes from an offset on, in a buffer that the next call uses again. */
  #bytes(from: number, length: number): Uint8Array {
    this.#file.seekSync(from, Deno.SeekMode.Start);
    return this.#buffer.subarray(0, this.#file.readSync(this.#buffer.subarray(0, length)) ?? 0);
  }
}
