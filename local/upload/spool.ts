/**
 * The spool: windows that wait for upload. A window that was ever sent may be stored already, so only
 * those never sent are merged when the spool grows over its limit: it loses time resolution, no counts.
 */

import {
  type InstanceHead,
  type PackedWindow,
  windowHead,
  WindowPacker,
} from "@service/core/packed";
import { removeOldest, writeWhole } from "../base/files.ts";
import { errorText } from "../base/log.ts";
import { lostWindow } from "./placeholder.ts";
import { SpoolFiles, type WindowFile } from "./spool_files.ts";
import { smallestPair, spanOf, type Spooled } from "./spooled.ts";

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
  readonly directory: string;
  readonly #limit: number;
  readonly #tell: (message: string) => void;
  readonly #files: SpoolFiles;
  #entries: Spooled[] = [];
  /** The window that was added last, which is mostly sent at once. */
  #newest: NextWindow | undefined;
  #packer: WindowPacker | undefined;
  /** The instance, once it is known. */
  #instance: InstanceHead | undefined;
  #damaged = 0;
  readonly #warned = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  private constructor(directory: string, { limit = SPOOL_BYTES, warn }: SpoolOptions) {
    this.directory = directory;
    this.#limit = limit;
    this.#tell = warn;
    this.#files = new SpoolFiles(directory);
  }

  /** The spool in `directory`, with the windows that an earlier run left there. */
  static async open(directory: string, options: SpoolOptions): Promise<Spool> {
    const spool = new Spool(directory, options);
    try {
      const { windows, foreign } = await spool.#files.open();
      spool.#entries = await spool.#withoutParts(
        windows.map(({ bytes, ...file }) => ({
          ...spanOf(file),
          bytes,
          sent: file.sent,
          kept: file,
        })),
      );
      if (foreign > 0) {
        spool.#warn(
          "foreign",
          `${foreign} files in ${directory} are not of this version's format: they stay there, unsent`,
        );
      }
    } catch (error) {
      spool.#fail(error);
    }
    return spool;
  }

  /** Windows that wait. */
  get size(): number {
    return this.#entries.length;
  }

  /** Damaged windows since this was last asked. */
  takeDamaged(): number {
    const damaged = this.#damaged;
    this.#damaged = 0;
    return damaged;
  }

  /** Keeps a window until it is acknowledged or rejected. */
  add(window: PackedWindow): Promise<void> {
    return this.#inTurn(async () => {
      const entry = await this.#store(window);
      this.#entries.push(entry);
      this.#newest = { entry, window };
      while (this.#bytes() > this.#limit) {
        if (!await this.#mergeSmallest()) break;
      }
    });
  }

  /** The oldest window that waits; from now on it counts as sent. */
  next(): Promise<NextWindow | undefined> {
    return this.#inTurn(async () => {
      while (this.#entries.length > 0) {
        const entry = this.#entries[0]!;
        await this.#markSent(entry);
        const window = await this.#read(entry);
        if (window) return { entry, window };
      }
    });
  }

  /** Removes `entry`, which the service has stored. */
  acknowledge(entry: Spooled): Promise<void> {
    return this.#inTurn(() => this.#forget(entry));
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
        this.#fail(error);
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
    if (this.size > 0) return;
    try {
      await this.#removeUnnamedBlocks();
      for await (const { name } of Deno.readDir(this.directory)) {
        if (name !== "lock" && name !== "destination" && !name.endsWith(".tmp")) return;
      }
      await Deno.remove(this.directory, { recursive: true });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** One change at a time: the loop adds while the sender reads. */
  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#last.then(change);
    this.#last = done.catch(() => {});
    return done;
  }

  #bytes(): number {
    let sum = this.#files.blockBytes;
    for (const { bytes } of this.#entries) sum += bytes;
    return sum;
  }

  async #store(window: PackedWindow): Promise<Spooled> {
    const { frame, block } = window;
    const span = spanOf(windowHead(frame));
    const entry = { ...span, bytes: frame.bytes.length, sent: false };
    this.#instance = block.instance;
    try {
      if (!this.#files.hasBlock(block.hash)) await this.#removeUnnamedBlocks();
      const kept = { ...span, block: block.hash, sent: false };
      await this.#files.write(kept, window);
      return { ...entry, kept };
    } catch (error) {
      this.#fail(error);
      return { ...entry, kept: window };
    }
  }

  /**
   * The window of an entry; `undefined` if it is lost or damaged: then a placeholder waits in its place,
   * if the instance is known.
   */
  async #read(entry: Spooled): Promise<PackedWindow | undefined> {
    const { kept } = entry;
    if ("frame" in kept) return kept;
    if (this.#newest?.entry === entry) return this.#newest.window;
    try {
      const window = await this.#files.read(kept);
      this.#instance = window.block.instance;
      return window;
    } catch (error) {
      this.#damaged++;
      this.#warn(
        "damaged",
        `a window is lost, what is left of it is in ${this.directory}/damaged: ${errorText(error)}`,
      );
      await this.#files.moveTo("damaged", kept).catch(() => {});
      const placeholder = await this.#placeholder(entry, { kept, reason: errorText(error) });
      this.#entries = this.#entries.flatMap((other) => other === entry ? placeholder : other);
    }
  }

  async #placeholder(
    entry: Spooled,
    { kept, reason }: { kept: WindowFile; reason: string },
  ): Promise<Spooled[]> {
    const block = await this.#files.block(kept.block).catch(() => undefined);
    const instance = block?.instance ?? this.#instance;
    if (!instance) return [];
    const loss = { instance, fate: "was kept for upload", reason };
    return [await this.#store(await lostWindow(entry, loss))];
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
      for (const part of parts) await this.#remove(part);
    } else {
      // They are sent as they are; one that is damaged has left the spool.
      for (const part of parts) if (this.#entries.includes(part)) await this.#markSent(part);
    }
    return true;
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
      else await this.#remove(entry);
      covered = entry.to_ns > covered ? entry.to_ns : covered;
    }
    return whole;
  }

  async #markSent(entry: Spooled): Promise<void> {
    if (entry.sent) return;
    entry.sent = true;
    if ("frame" in entry.kept) return;
    try {
      entry.kept = await this.#files.markSent(entry.kept);
    } catch (error) {
      // A file that is gone is told of where it is read.
      if (!(error instanceof Deno.errors.NotFound)) this.#fail(error);
    }
  }

  async #forget(entry: Spooled): Promise<void> {
    this.#entries = this.#entries.filter((other) => other !== entry);
    await this.#remove(entry);
  }

  async #remove(entry: Spooled): Promise<void> {
    if ("frame" in entry.kept) return;
    await this.#files.remove(entry.kept).catch((error) => this.#fail(error));
  }

  async #removeUnnamedBlocks(): Promise<void> {
    const named = this.#entries.flatMap(({ kept }) => "frame" in kept ? [] : kept.block);
    await this.#files.removeBlocksExcept(new Set(named));
  }

  /** Without the disk, windows are held in memory. */
  #fail(error: unknown): void {
    this.#warn(
      "failing",
      `cannot keep windows in ${this.directory}, holding them in memory: ${errorText(error)}`,
    );
  }

  #warn(kind: string, message: string): void {
    if (!this.#warned.has(kind)) this.#tell(message);
    this.#warned.add(kind);
  }
}
