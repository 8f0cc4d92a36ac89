/** Console bytes as lines: cut at newlines and at carriage returns, decoded only where asked. */

import { createScan, type FindNeedle } from "./scan.ts";

/** Most bytes of a line that are kept; the rest is skipped. */
export const MAX_LINE_BYTES = 65_536;

const NEWLINE = 10;
const RETURN = 13;

/** The receiver of the lines of one stream. */
export interface LineReader {
  /** Whether every line is wanted now, not only those with a needle of a recogniser. */
  needsAll(): boolean;
  /** Receives a line without its end; never longer than {@linkcode MAX_LINE_BYTES}. */
  line(bytes: Uint8Array): void;
}

/** Cuts the chunks of one stream into lines; keeps at most one unfinished line. */
export class LineSplitter {
  #reader: LineReader;
  #find: FindNeedle;
  #held = new Uint8Array(256);
  #size = 0;

  /** A splitter that passes lines to `reader`; `find` is the native search for needles. */
  constructor(reader: LineReader, find?: FindNeedle) {
    this.#reader = reader;
    this.#find = createScan(find);
  }

  /** Takes the next bytes of the stream. */
  write(bytes: Uint8Array): void {
    const from = this.#finish(bytes);
    if (from < 0) return;
    const end = endOfLines(bytes, from);
    this.#scan(bytes, from, end);
    this.#hold(bytes.subarray(end));
  }

  /** Passes on the unfinished line: the stream has ended. */
  end(): void {
    if (this.#size > 0) this.#flush();
  }

  /** Completes the kept line with the first of `bytes`; index of the rest, or -1 if it is still unfinished. */
  #finish(bytes: Uint8Array): number {
    if (this.#size === 0 || bytes.length === 0) return 0;
    // A return at its end is a break of its own unless a newline follows.
    const overwritten = this.#held[this.#size - 1] === RETURN;
    if (overwritten && bytes[0] !== NEWLINE && bytes[0] !== RETURN) {
      this.#flush();
      return 0;
    }
    const stop = findBreak(bytes, 0, bytes.length);
    const after = afterBreak(bytes, stop, bytes.length);
    this.#hold(bytes.subarray(0, after < 0 ? bytes.length : stop));
    if (after >= 0) this.#flush();
    return after;
  }

  #scan(bytes: Uint8Array, from: number, end: number): void {
    let at = from;
    while (at < end) {
      let start = at;
      if (!this.#reader.needsAll()) {
        const found = this.#find(bytes, at, end);
        if (found < 0) return;
        start = startOfLine(bytes, at, found);
      }
      const stop = findBreak(bytes, start, end);
      this.#offer(bytes.subarray(start, Math.min(stop, start + MAX_LINE_BYTES)));
      at = afterBreak(bytes, stop, end);
      if (at < 0) return;
    }
  }

  /** Passes on the line that came in pieces. */
  #flush(): void {
    let size = this.#size;
    while (size > 0 && this.#held[size - 1] === RETURN) size--;
    const line = this.#held.slice(0, Math.min(size, MAX_LINE_BYTES));
    this.#size = 0;
    this.#offer(line);
  }

  /** Decides by the line alone, so that how the bytes were cut into chunks makes no difference. */
  #offer(line: Uint8Array): void {
    if (this.#reader.needsAll() || this.#find(line, 0, line.length) >= 0) {
      this.#reader.line(line);
    }
  }

  #hold(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, Math.max(0, MAX_LINE_BYTES - this.#size));
    if (this.#size + kept.length >= this.#held.length) {
      const larger = new Uint8Array(2 * (this.#size + kept.length + 1));
      larger.set(this.#held.subarray(0, this.#size));
      this.#held = larger;
    }
    this.#held.set(kept, this.#size);
    this.#size += kept.length;
    // Bytes beyond the limit are dropped, but not a return, which may end the line.
    if (kept.length < bytes.length && bytes.at(-1) === RETURN) {
      this.#size = Math.min(this.#size, MAX_LINE_BYTES);
      this.#held[this.#size++] = RETURN;
    }
  }
}

/** Index of the first newline or return in `[from, end)`, or `end`. */
function findBreak(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== NEWLINE && bytes[at] !== RETURN) at++;
  return at;
}

/** Index after the break at `at` (returns and a newline are one break), or -1 if it may continue. */
function afterBreak(bytes: Uint8Array, at: number, end: number): number {
  while (at < end && bytes[at] === RETURN) at++;
  if (at >= end) return end < bytes.length ? end : -1;
  return bytes[at] === NEWLINE ? at + 1 : at;
}

/** Index of the first byte of the line around `at`, not before `from`. */
function startOfLine(bytes: Uint8Array, from: number, at: number): number {
  // A needle may start with the newline before its line, so the byte itself is no break.
  while (at > from && bytes[at - 1] !== NEWLINE && bytes[at - 1] !== RETURN) at--;
  return at;
}

/** Index after the last break that is complete. */
function endOfLines(bytes: Uint8Array, from: number): number {
  let at = bytes.length;
  while (at > from && bytes[at - 1] === RETURN) at--;
  while (at > from && bytes[at - 1] !== NEWLINE && bytes[at - 1] !== RETURN) at--;
  return at;
}
