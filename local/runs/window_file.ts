/** A file of packed windows: it is only appended to, and never with a part of a window. */

import type { PackedWindow } from "@service/core/packed";

/** A file that appends windows. */
export interface WindowFile extends Disposable {
  /** Bytes of the file. */
  readonly size: number;
  /** Bytes that a window adds: its block too, unless that is the newest in the file. */
  bytesOf(window: PackedWindow): number;
  /** Appends a window completely, or leaves the file as it was. */
  append(window: PackedWindow): Promise<void>;
}

/** Creates the file of a path, locked so that others can see that it is in use. */
export async function createWindowFile(path: string): Promise<WindowFile> {
  const file = await Deno.open(path, { createNew: true, write: true, mode: 0o600 });
  // A file system without locks has none to respect either: nothing there is removed.
  await file.lock(true).catch(() => {});
  return new AppendedFile(file);
}

class AppendedFile implements WindowFile {
  readonly #file: Deno.FsFile;
  size = 0;
  /** Hash of the newest block in the file. */
  #block: string | undefined;
  /** Whether a write ended half-way. */
  #torn = false;

  constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  bytesOf({ frame, block }: PackedWindow): number {
    const ofBlock = block.hash === this.#block ? 0 : block.frame.bytes.length;
    return ofBlock + frame.bytes.length;
  }

  async append(window: PackedWindow): Promise<void> {
    const { frame, block } = window;
    const bytes = new Uint8Array(this.bytesOf(window));
    if (bytes.length > frame.bytes.length) bytes.set(block.frame.bytes);
    bytes.set(frame.bytes, bytes.length - frame.bytes.length);
    if (this.#torn) {
      await this.#file.truncate(this.size);
      await this.#file.seek(this.size, Deno.SeekMode.Start);
    }
    this.#torn = true;
    for (let at = 0; at < bytes.length;) at += await this.#file.write(bytes.subarray(at));
    this.#torn = false;
    this.size += bytes.length;
    this.#block = block.hash;
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}
