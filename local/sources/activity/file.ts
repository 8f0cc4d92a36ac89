/**
 * A segment's bytes, by reading the file and never by mapping it: a file that is cut short under a
 * mapping would end this process by a SIGBUS.
 */

import { HEADER_BYTES, refuseSegment } from "./layout.ts";

/** An open segment file of a process that is ours to watch. */
export class SegmentFile implements Disposable {
  readonly path: string;
  readonly bytes: number;
  readonly #file: Deno.FsFile;
  readonly #header: DataView<ArrayBuffer> = new DataView(new ArrayBuffer(HEADER_BYTES));

  /**
   * Opens the file at `path`.
   *
   * @throws {SegmentRefusal} If it is not a plain file, or not of a user whom we trust.
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

  /** The header as it is now; whoever calls again overwrites it. */
  header(): DataView<ArrayBuffer> {
    this.read(0, new Uint8Array(this.#header.buffer));
    return this.#header;
  }

  /**
   * Fills `into` from `at` on.
   *
   * @throws {SegmentRefusal} If the file ends before.
   */
  read(at: number, into: Uint8Array): void {
    this.#file.seekSync(at, Deno.SeekMode.Start);
    for (let got = 0; got < into.length;) {
      const more = this.#file.readSync(into.subarray(got));
      if (!more) refuseSegment("it was cut short");
      got += more;
    }
  }

  /** Whether its writer lives: it holds an flock until its last thread is gone. */
  isAlive(): boolean {
    // Deno's locks are flock(2). A shared one is all that a reader may ask for on every file system.
    if (!this.#file.tryLockSync(false)) return true;
    this.#file.unlockSync();
    return false;
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}
