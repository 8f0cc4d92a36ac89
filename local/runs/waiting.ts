/** Windows of a run that wait to be written: bounded in memory, whatever the disk does. */

import { type InstanceHead, type PackedWindow, WindowPacker } from "@service/core/packed";

/** A window that waits. */
export interface WaitingWindow extends PackedWindow {
  /** Number of windows of which it is the merge. */
  readonly count: number;
}

/** Bytes of waiting windows beyond which adjacent ones are merged. */
export const WAITING_BYTES: number = 4 * 2 ** 20;

/** Adjacent windows, the oldest first. Over the limit they are merged: resolution is lost, no counts. */
export class WaitingWindows {
  readonly #limit: number;
  readonly #packer: WindowPacker;
  readonly #windows: WaitingWindow[] = [];

  /** No window of an instance yet; `limit` is in bytes. */
  constructor(instance: InstanceHead, limit: number = WAITING_BYTES) {
    this.#limit = limit;
    this.#packer = new WindowPacker(instance);
  }

  /** Number of windows that were added and wait. */
  get count(): number {
    return this.#windows.reduce((sum, { count }) => sum + count, 0);
  }

  /** Adds the newest window. Calls must not overlap. */
  async add(window: PackedWindow): Promise<void> {
    this.#windows.push({ ...window, count: 1 });
    while (this.#bytes() > this.#limit) {
      if (!await this.#mergeSmallest()) return;
    }
  }

  /** Removes the oldest window and returns it. */
  take(): WaitingWindow | undefined {
    return this.#windows.shift();
  }

  /** Puts back the window that was taken last. */
  putBack(window: WaitingWindow): void {
    this.#windows.unshift(window);
  }

  #bytes(): number {
    const blocks = new Set(this.#windows.map(({ block }) => block));
    return [...this.#windows, ...blocks].reduce((sum, { frame }) => sum + frame.bytes.length, 0);
  }

  /** Merges the two neighbours that are smallest together; false if there are none. */
  async #mergeSmallest(): Promise<boolean> {
    const windows = this.#windows;
    let index = -1;
    let smallest = Infinity;
    for (let i = 0; i + 1 < windows.length; i++) {
      const bytes = windows[i]!.frame.bytes.length + windows[i + 1]!.frame.bytes.length;
      if (bytes < smallest) [smallest, index] = [bytes, i];
    }
    const [first, second] = windows.slice(index, index + 2);
    if (index < 0 || !first || !second) return false;
    const merged = await this.#packer.merge(first, second);
    if (!merged) return false;
    const at = windows.indexOf(first);
    // The first may have been taken meanwhile.
    if (at >= 0) windows.splice(at, 2, { ...merged, count: first.count + second.count });
    return true;
  }
}
