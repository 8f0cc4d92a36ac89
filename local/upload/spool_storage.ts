/** Storage of a spool: its windows on disk, each in memory where the disk refuses it. */

import {
  type InstanceHead,
  type PackedWindow,
  type WindowHead,
  windowHead,
} from "@service/core/packed";
import { errorText } from "../base/log.ts";
import { isNote, SpoolFiles } from "./spool_files.ts";
import { spanOf, type Spooled } from "./spooled.ts";

/** What an earlier run left. */
export interface Left {
  /** In the order of their spans; of those with the same start the longest first. */
  entries: Spooled[];
  /** The newest window that the service has stored, if it is known. */
  stored?: WindowHead;
}

/** Keeps windows, and tells the user once of each kind of failure. */
export class SpoolStorage {
  readonly directory: string;
  readonly #tell: (message: string) => void;
  readonly #files: SpoolFiles;
  readonly #warned = new Set<string>();
  /** The instance, once it is known. */
  #instance: InstanceHead | undefined;

  /** That of a directory, which need not exist; `tell` tells the user. */
  constructor(directory: string, tell: (message: string) => void) {
    this.directory = directory;
    this.#tell = tell;
    this.#files = new SpoolFiles(directory);
  }

  /** Creates the directory, and lists what is in it. */
  async open(): Promise<Left> {
    try {
      const { windows, foreign, stored } = await this.#files.open();
      if (foreign > 0) {
        const stay = "are not of this version's format: they stay there, unsent";
        this.warn("foreign", `${foreign} files in ${this.directory} ${stay}`);
      }
      const entries = windows.map(({ bytes, ...file }) => ({
        ...spanOf(file),
        bytes,
        sent: file.sent,
        kept: file,
      }));
      return { entries, stored };
    } catch (error) {
      this.fail(error);
      return { entries: [] };
    }
  }

  /** Bytes of all blocks. */
  get blockBytes(): number {
    return this.#files.blockBytes;
  }

  /** Keeps a window beside `others`, whose blocks stay. */
  async store(window: PackedWindow, others: readonly Spooled[]): Promise<Spooled> {
    const { frame, block } = window;
    const span = spanOf(windowHead(frame));
    const entry = { ...span, bytes: frame.bytes.length, sent: false };
    this.#instance = block.instance;
    try {
      if (!this.#files.hasBlock(block.hash)) await this.#removeBlocksExceptOf(others);
      const kept = { ...span, block: block.hash, sent: false };
      await this.#files.write(kept, window);
      return { ...entry, kept };
    } catch (error) {
      this.fail(error);
      return { ...entry, kept: window };
    }
  }

  /**
   * The window of an entry.
   *
   * @throws {Error} If it is lost or damaged.
   */
  async read({ kept }: Spooled): Promise<PackedWindow> {
    if ("frame" in kept) return kept;
    const window = await this.#files.read(kept);
    this.#instance = window.block.instance;
    return window;
  }

  /** The instance of an entry that cannot be read, or of the whole spool; `undefined`: nothing tells it. */
  async instanceOf(entry?: Spooled): Promise<InstanceHead | undefined> {
    const hash = entry && !("frame" in entry.kept) ? entry.kept.block : undefined;
    const block = hash === undefined
      ? undefined
      : await this.#files.block(hash).catch(() => undefined);
    return block?.instance ?? this.#instance ?? (await this.#files.anyBlock())?.instance;
  }

  /** Notes that a window may have reached the service. */
  async markSent(entry: Spooled): Promise<void> {
    if (entry.sent) return;
    entry.sent = true;
    if ("frame" in entry.kept) return;
    try {
      entry.kept = await this.#files.markSent(entry.kept);
    } catch (error) {
      // A file that is gone is told of where it is read.
      if (!(error instanceof Deno.errors.NotFound)) this.fail(error);
    }
  }

  /** Keeps a window only as the newest that the service has stored. */
  async markStored({ kept }: Spooled): Promise<void> {
    if (!("frame" in kept)) await this.#files.markStored(kept).catch((error) => this.fail(error));
  }

  /** Removes a window. */
  async remove({ kept }: Spooled): Promise<void> {
    if (!("frame" in kept)) await this.#files.remove(kept).catch((error) => this.fail(error));
  }

  /** Moves what is left of a damaged window out of the way. */
  async setAside({ kept }: Spooled): Promise<void> {
    if (!("frame" in kept)) await this.#files.moveTo("damaged", kept).catch(() => {});
  }

  /** Removes the directory if it has only notes. */
  async removeIfEmpty(): Promise<void> {
    try {
      await this.#removeBlocksExceptOf([]);
      for await (const { name } of Deno.readDir(this.directory)) if (!isNote(name)) return;
      await Deno.remove(this.directory, { recursive: true });
    } catch (error) {
      this.fail(error);
    }
  }

  /** Tells the user; without the disk, windows are held in memory. */
  fail(error: unknown): void {
    this.warn(
      "failing",
      `cannot keep windows in ${this.directory}, holding them in memory: ${errorText(error)}`,
    );
  }

  /** Tells the user, once for each kind of message. */
  warn(kind: string, message: string): void {
    if (!this.#warned.has(kind)) this.#tell(message);
    this.#warned.add(kind);
  }

  async #removeBlocksExceptOf(entries: readonly Spooled[]): Promise<void> {
    const named = entries.flatMap(({ kept }) => "frame" in kept ? [] : kept.block);
    await this.#files.removeBlocksExcept(new Set(named));
  }
}
