/**
 * The spool: windows that wait for upload. A window that was ever sent may be stored already, so only
 * those never sent are merged when the spool grows over its limit: it loses time resolution, no counts.
 * If no two can be merged, the oldest are dropped, and counted.
 */

import { type PackedWindow, type WindowHead, windowHead, WindowPacker } from "@service/core/packed";
import { removeOldest, writeWhole } from "../base/files.ts";
import { errorText } from "../base/log.ts";
import { endingWindow, lostWindow, placeholderOf } from "./placeholder.ts";
import { SpoolStorage } from "./spool_storage.ts";
import { smallestPair, type Spooled } from "./spooled.ts";

/** The window to send next. */
export interface NextWindow {
  entry: Spooled;
  window: PackedWindow;
}

/** Bytes that one instance's spool holds before it merges windows. */
export const SPOOL_BYTES: number = 64 * 2 ** 20;

/** The limit of a spool, and how it tells of a disk that fails. */
export interface SpoolOptions {
  /** Tells the user; called once for each kind of message. */
  warn: (message: string) => void;
  /** Bytes of windows and blocks, {@linkcode SPOOL_BYTES} unless given. */
  limit?: number;
}

/** The spool of one instance: oldest first, on disk, or in memory where the disk refuses. */
export class Spool {
  readonly #storage: SpoolStorage;
  readonly #limit: number;
  #entries: Spooled[] = [];
  /** The window that was added last, which is mostly sent at once. */
  #newest: NextWindow | undefined;
  /** The newest window that the service has stored. */
  #stored: Pick<WindowHead, "to_ns" | "final"> | undefined;
  #packer: WindowPacker | undefined;
  #damaged = 0;
  #dropped = 0;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(directory: string, { limit = SPOOL_BYTES, warn }: SpoolOptions) {
    this.#storage = new SpoolStorage(directory, warn);
    this.#limit = limit;
  }

  /** The spool in `directory`, with the windows that an earlier run left there. */
  static async open(directory: string, options: SpoolOptions): Promise<Spool> {
    const spool = new Spool(directory, options);
    const { entries, stored } = await spool.#storage.open();
    spool.#stored = stored;
    spool.#entries = await spool.#withoutParts(entries);
    return spool;
  }

  /** Where its files are. */
  get directory(): string {
    return this.#storage.directory;
  }

  /** Windows that wait. */
  get size(): number {
    return this.#entries.length;
  }

  /** Windows that were damaged, and that were dropped at the limit, since this was last asked. */
  takeLost(): { damaged: number; dropped: number } {
    const lost = { damaged: this.#damaged, dropped: this.#dropped };
    this.#damaged = 0;
    this.#dropped = 0;
    return lost;
  }

  /** Keeps a window until it is acknowledged or rejected. */
  add(window: PackedWindow): Promise<void> {
    return this.#inTurn(async () => {
      const entry = await this.#store(window);
      this.#entries.push(entry);
      this.#newest = { entry, window };
      while (this.#bytes() > this.#limit) {
        if (!await this.#mergeSmallest() && !await this.#dropOldest()) break;
      }
    });
  }

  /** The oldest window that waits; from now on it counts as sent. */
  next(): Promise<NextWindow | undefined> {
    return this.#inTurn(async () => {
      while (this.#entries.length > 0) {
        const entry = this.#entries[0]!;
        await this.#storage.markSent(entry);
        const window = await this.#read(entry);
        if (window) return { entry, window };
      }
    });
  }

  /** Removes a window that the service has stored. */
  acknowledge({ entry, window }: NextWindow): Promise<void> {
    return this.#inTurn(async () => {
      const head = windowHead(window.frame);
      const isNewest = head.to_ns > (this.#stored?.to_ns ?? -1n);
      if (isNewest) this.#stored = head;
      await this.#forget(entry, { isNewest });
    });
  }

  /** Adds a last window if the service has stored one, but not the last: the profiler has ended. */
  endInstance(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#stored || this.#stored.final || this.#entries.length > 0) return;
      const instance = await this.#storage.instanceOf();
      if (!instance) return;
      this.#entries.push(await this.#store(await endingWindow(this.#stored.to_ns, instance)));
    });
  }

  /** Moves `entry` to `rejected/`, beside the service's answer, and stores a placeholder for its span. */
  reject(
    { entry, window }: NextWindow,
    { answer, placeholder }: { answer: string; placeholder?: PackedWindow },
  ): Promise<void> {
    return this.#inTurn(async () => {
      const rejected = `${this.directory}/rejected`;
      const name = `${rejected}/${entry.from_ns}-${entry.to_ns}`;
      try {
        await Deno.mkdir(rejected, { recursive: true, mode: 0o700 });
        const { block, frame } = window;
        await writeWhole(
          `${name}.windows`,
          await new Blob([block.frame.bytes, frame.bytes]).bytes(),
        );
        await writeWhole(`${name}.answer.json`, answer);
        await removeOldest(rejected, { bytes: this.#limit });
      } catch (error) {
        this.#storage.fail(error);
      }
      await this.#forget(entry);
      if (placeholder) this.#entries.unshift(await this.#store(placeholder));
    });
  }

  /** Puts a window before all others. */
  fill(window: PackedWindow): Promise<void> {
    return this.#inTurn(async () => {
      this.#entries.unshift(await this.#store(window));
    });
  }

  /** Removes the directory if nothing is left in it, neither waiting nor set aside. */
  async removeIfEmpty(): Promise<void> {
    if (this.size === 0) await this.#storage.removeIfEmpty();
  }

  /** One change at a time: the loop adds while the sender reads. */
  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#last.then(change);
    this.#last = done.catch(() => {});
    return done;
  }

  #bytes(): number {
    let sum = this.#storage.blockBytes;
    for (const { bytes } of this.#entries) sum += bytes;
    return sum;
  }

  #store(window: PackedWindow): Promise<Spooled> {
    return this.#storage.store(window, this.#entries);
  }

  #replace(entry: Spooled, others: readonly Spooled[]): void {
    this.#entries = this.#entries.flatMap((other) => other === entry ? others : other);
  }

  /**
   * The window of an entry; `undefined` if it is lost or damaged: then a placeholder waits in its place,
   * if the instance is known.
   */
  async #read(entry: Spooled): Promise<PackedWindow | undefined> {
    if (this.#newest?.entry === entry) return this.#newest.window;
    try {
      return await this.#storage.read(entry);
    } catch (error) {
      const reason = errorText(error);
      this.#damaged++;
      this.#storage.warn(
        "damaged",
        `a window is lost, what is left of it is in ${this.directory}/damaged: ${reason}`,
      );
      await this.#storage.setAside(entry);
      const instance = await this.#storage.instanceOf(entry);
      const loss = { fate: "was kept for upload", reason };
      this.#replace(
        entry,
        instance ? [await this.#store(await lostWindow(entry, { instance, ...loss }))] : [],
      );
    }
  }

  /** Merges the two neighbours never sent that are smallest together; false if there are none. */
  async #mergeSmallest(): Promise<boolean> {
    const entries = this.#entries;
    const index = smallestPair(entries);
    if (index < 0) return false;
    const parts = entries.slice(index, index + 2);
    const merged = await this.#merged(parts);
    if (merged) {
      entries.splice(index, 2, await this.#store(merged));
      for (const part of parts) await this.#storage.remove(part);
    } else {
      // They are sent as they are; one that is damaged has left the spool.
      for (const part of parts) {
        if (this.#entries.includes(part)) await this.#storage.markSent(part);
      }
    }
    return true;
  }

  /** Replaces the oldest window that does not wait for an answer; false if all are placeholders. */
  async #dropOldest(): Promise<boolean> {
    const reason = `The spool was at its limit of ${this.#limit} bytes`;
    for (const entry of this.#entries.slice(1)) {
      const window = await this.#read(entry);
      const fate = { fate: "was kept for upload", reason };
      const placeholder = window && await placeholderOf(window, fate);
      if (!placeholder) continue;
      // Before it, as both files may have the same name.
      await this.#storage.remove(entry);
      this.#replace(entry, [await this.#store(placeholder)]);
      this.#dropped++;
      this.#storage.warn("dropped", `windows are lost, the service is told so: ${reason}`);
      return true;
    }
    return false;
  }

  /** Two windows as one; `undefined` if one window cannot hold both, or one is damaged. */
  async #merged([a, b]: Spooled[]): Promise<PackedWindow | undefined> {
    const [first, second] = [await this.#read(a!), await this.#read(b!)];
    if (!first || !second) return undefined;
    this.#packer ??= new WindowPacker(second.block.instance, second.block);
    return await this.#packer.merge(first, second).catch(() => undefined);
  }

  /** The windows without the parts of a merged one, which are removed if they are still there. */
  async #withoutParts(entries: readonly Spooled[]): Promise<Spooled[]> {
    let covered = -1n;
    const whole: Spooled[] = [];
    for (const entry of entries) {
      if (entry.to_ns > covered) whole.push(entry);
      else await this.#storage.remove(entry);
      covered = entry.to_ns > covered ? entry.to_ns : covered;
    }
    return whole;
  }

  async #forget(entry: Spooled, { isNewest = false } = {}): Promise<void> {
    this.#replace(entry, []);
    await (isNewest ? this.#storage.markStored(entry) : this.#storage.remove(entry));
  }
}
