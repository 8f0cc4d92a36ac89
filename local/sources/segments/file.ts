/**
 * The file of a segment. It is read and never mapped: truncating a mapped file would end this process
 * with a SIGBUS.
 */

import { HEADER_BYTES, refuseSegment } from "./layout.ts";

/** An open file of a segment. */
export class SegmentFile implements Disposable {
  readonly path: string;
  readonly bytes: number;
  readonly #file: Deno.FsFile;
  readonly #header: DataView<ArrayBuffer> = new DataView(new ArrayBuffer(HEADER_BYTES));

  /**
   * Opens the file at `path`.
   *
   * @throws {SegmentRefusal} If it is not a plain file, or belongs to another user.
   */
  constructor(path: string) {
    const named = Deno.lstatSync(path);
    if (!named.isFile) refuseSegment("it is not a plain file");
    this.path = path;
    this.#file = Deno.openSync(path);
    const opened = this.#file.statSync();
    this.bytes = opened.size;
    const { ino, dev, uid } = opened;
    const ours = uid === Deno.uid() || Deno.uid() === 0;
    if (ino === named.ino && dev === named.dev && ours) return;
    this.#file.close();
    refuseSegment(ours ? "it was replaced" : `it belongs to user ${uid}`);
  }

  /** The header as it is now; the next call overwrites it. */
  header(): DataView<ArrayBuffer> {
    this.read(0, new Uint8Array(this.#header.buffer));
    return this.#header;
  }

  /**
   * Fills `into` with the bytes from `at` on.
   *
   * @throws {SegmentRefusal} If the file ends before.
   */
  read(at: number, into: Uint8Array): void {
    this.#file.seekSync(at, Deno.SeekMode.Start);
    for (let done = 0; done < into.length;) {
      const read = this.#file.readSync(into.subarray(done));
      if (!read) refuseSegment("it was cut short");
      done += read;
    }
  }

  /** Whether its writer is alive: a writer holds an flock until its last thread has ended. */
  isAlive(): boolean {
    // Deno's locks are flock(2). A reader may ask for a shared lock on every file system.
    if (!this.#file.tryLockSync(false)) return true;
    this.#file.unlockSync();
    return false;
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}
