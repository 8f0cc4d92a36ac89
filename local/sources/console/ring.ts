/** The console ring, which the supervisor writes as `ffi/supervisor/ring.h` describes, read from its file. */

import type { ConsoleChunk, StreamNumber } from "./console.ts";
import type { ReadStream } from "./source.ts";

const MAGIC = "svcring\0";
const VERSION = 3;
const HEADER_BYTES = 72;
const STREAMS_AT = 40;
const DATA_AT = 4_096;
const RECORD_BYTES = 24;

/** Why a stream is not read, by the state that the header has for it; none where it is read. */
const REASONS: Record<number, string> = {
  2: "it is closed or leads to a device such as /dev/null",
  3: "it is a terminal from which the command may read keys, as a pager does: its input is no terminal",
  4: "its file cannot be read",
};

/** State of a stream that is a regular file, which the reader reads itself. */
const IN_FILE = 5;

/** A stream as the ring's header describes it. */
export interface RingStream extends ReadStream {
  /** Of a regular file, which is not in the ring: the offset at which the workload began to write. */
  from?: number;
}

/** A ring in an open file; its writer may write, or die, while it is read. */
export class RingReader {
  readonly #file: Deno.FsFile;
  readonly #capacity: number;
  /** The workload's streams, and which of them are read. */
  readonly streams: readonly RingStream[];
  #position = 0;
  /** Payload bytes written before the next record, as far as records were read. */
  #read_bytes = 0;
  #lost_bytes = 0;

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
    this.streams = (["stdout", "stderr"] as const).map((stream, at) => {
      const [state, from] = [0, 8].map((field) =>
        Number(header.getBigUint64(STREAMS_AT + 16 * at + field, true))
      );
      return { stream, reason: REASONS[state!], from: state === IN_FILE ? from : undefined };
    });
  }

  /** Bytes that were overwritten, or skipped by the writer, before they were read. */
  get lost_bytes(): number {
    return this.#lost_bytes;
  }

  /** The chunks written since the last reading. */
  read(): ConsoleChunk[] {
    const { oldest, end } = this.#positions();
    const from = Math.max(this.#position, oldest);
    const copy = this.#span(from, end);
    // Records that the writer overwrote during the copy may be torn; those from `oldest` on are not.
    const intact = Math.max(from, this.#positions().oldest);
    const chunks: ConsoleChunk[] = [];
    const view = new DataView(copy.buffer);
    for (let at = intact - from; at < copy.length;) {
      const length = view.getUint32(at, true);
      const before_bytes = Number(view.getBigUint64(at + 16, true));
      this.#lost_bytes += before_bytes - this.#read_bytes;
      this.#read_bytes = before_bytes + length;
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
    this.#position = Math.max(end, intact);
    return chunks;
  }

  /** Positions of the oldest record and of the end, read again until two readings agree. */
  #positions(): { oldest: number; end: number } {
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
    for (let done = 0; done < length;) {
      const read = this.#file.readSync(bytes.subarray(done));
      if (read === null) throw new TypeError("Cannot read the console: the ring ends early");
      done += read;
    }
    return bytes;
  }
}

function isStream(number: number): number is StreamNumber {
  return number <= 2;
}
