/** The tail of a stream: the last lines before the workload ended. */

import { plainText } from "./text.ts";

const NEWLINE = 10;
const RETURN = 13;

const MAX_BYTES = 8_192;
const MAX_LINES = 20;

/** Keeps the last bytes of a stream. */
export class Tail {
  #bytes = new Uint8Array(0);

  /** Takes the next bytes. */
  write(bytes: Uint8Array): void {
    if (bytes.length >= MAX_BYTES) this.#bytes = bytes.slice(-MAX_BYTES);
    else {
      const kept = this.#bytes.subarray(Math.max(0, this.#bytes.length + bytes.length - MAX_BYTES));
      const joined = new Uint8Array(kept.length + bytes.length);
      joined.set(kept);
      joined.set(bytes, kept.length);
      this.#bytes = joined;
    }
  }

  /** The last lines as a terminal shows them: of a line that was overwritten only the last version. */
  get text(): string {
    const wholeLines = this.#bytes.length < MAX_BYTES
      ? this.#bytes
      : this.#bytes.subarray(this.#bytes.indexOf(NEWLINE) + 1);
    return split(wholeLines, NEWLINE).slice(-MAX_LINES - 1)
      .map((line) => split(line, RETURN).findLast((part) => part.length > 0) ?? new Uint8Array(0))
      .map((line) => plainText(line) ?? "")
      .join("\n").replace(/^\s*\n/, "").trimEnd();
  }
}

function split(bytes: Uint8Array, separator: number): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let at; (at = bytes.indexOf(separator, from)) >= 0; from = at + 1) {
    parts.push(bytes.subarray(from, at));
  }
  return [...parts, bytes.subarray(from)];
}
