/**
 * Files of a spool: each window in one of its own, `<from_ns>-<to_ns>.<hash of its block>.new.window`,
 * and from the first attempt to send it `.sent.window`; each block once, in `<hash>.block`. The newest
 * that the service has stored stays as `stored.window`: if the profiler is killed, it says how far it got.
 */

import { Lru } from "@service/core/lru";
import {
  type Block,
  DamagedError,
  type Frame,
  type PackedWindow,
  readBlock,
  readFrames,
  type WindowHead,
  windowHead,
} from "@service/core/packed";
import { writeWhole } from "../base/files.ts";

/** A window with a file of its own. */
export interface WindowFile {
  readonly from_ns: bigint;
  readonly to_ns: bigint;
  /** Hash of its block. */
  readonly block: string;
  readonly sent: boolean;
}

/** A file in the directory, with its size in bytes. */
export interface Found extends WindowFile {
  readonly bytes: number;
}

/** Files in the directory of a spool. */
export interface Listing {
  /** In the order of their spans; of those with the same start the longest first. */
  windows: Found[];
  /** The newest window that the service has stored, if it is known. */
  stored?: WindowHead;
  /** Windows of a version that wrote them in another format. */
  foreign: number;
}

const WINDOW = /^(\d+)-(\d+)\.([0-9a-f]{32})\.(new|sent)\.window$/;
const BLOCK = /^([0-9a-f]{32})\.block$/;
const STORED = "stored.window";
const FOREIGN = /\.(json\.gz|window|block)$/;

/** Blocks that are kept parsed. */
const PARSED_BLOCKS = 4;

/** The directory of a spool. */
export class SpoolFiles {
  readonly directory: string;
  /** Bytes of the blocks that have a file, by hash. */
  readonly #blocks = new Map<string, number>();
  readonly #parsed = new Lru<string, Block>({ max: PARSED_BLOCKS });

  /** A directory, which need not exist. */
  constructor(directory: string) {
    this.directory = directory;
  }

  /** Creates the directory, and lists its files. */
  async open(): Promise<Listing> {
    await Deno.mkdir(this.directory, { recursive: true, mode: 0o700 });
    const windows: Found[] = [];
    let foreign = 0;
    let stored: WindowHead | undefined;
    for await (const { name } of Deno.readDir(this.directory)) {
      if (name === STORED) {
        stored = await onlyFrame(`${this.directory}/${name}`).then(windowHead, () => undefined);
        continue;
      }
      const window = WINDOW.exec(name);
      const block = BLOCK.exec(name)?.[1];
      if (!window && block === undefined) {
        if (FOREIGN.test(name)) foreign++;
        continue;
      }
      const { size: bytes } = await Deno.stat(`${this.directory}/${name}`);
      if (block !== undefined) this.#blocks.set(block, bytes);
      if (!window) continue;
      const [from_ns, to_ns] = [BigInt(window[1]!), BigInt(window[2]!)];
      windows.push({ from_ns, to_ns, block: window[3]!, sent: window[4] === "sent", bytes });
    }
    windows.sort((a, b) =>
      a.from_ns === b.from_ns ? Number(b.to_ns - a.to_ns) : a.from_ns < b.from_ns ? -1 : 1
    );
    return { windows, foreign, ...(stored && { stored }) };
  }

  /** Bytes of all blocks. */
  get blockBytes(): number {
    let sum = 0;
    for (const bytes of this.#blocks.values()) sum += bytes;
    return sum;
  }

  /** Whether a block has a file. */
  hasBlock(hash: string): boolean {
    return this.#blocks.has(hash);
  }

  /** Writes a window, and its block before it; the checksums of one that a crash has cut are wrong. */
  async write(file: WindowFile, { frame, block }: PackedWindow): Promise<void> {
    if (!this.hasBlock(block.hash)) {
      await writeWhole(this.#blockPath(block.hash), block.frame.bytes);
      this.#blocks.set(block.hash, block.frame.bytes.length);
      this.#parsed.set(block.hash, block);
    }
    const path = this.#path(file);
    try {
      await Deno.writeFile(path, frame.bytes, { mode: 0o600 });
    } catch (error) {
      await Deno.remove(path).catch(() => {});
      throw error;
    }
  }

  /**
   * A window and its block.
   *
   * @throws {DamagedError} If they are not what was written, or one is gone.
   */
  async read(file: WindowFile): Promise<PackedWindow> {
    const frame = await onlyFrame(this.#path(file));
    const { from_ns, to_ns, block } = windowHead(frame);
    if (from_ns !== file.from_ns || to_ns !== file.to_ns || block !== file.block) {
      throw new DamagedError("the window must be that of its file's name");
    }
    return { frame, block: await this.block(block) };
  }

  /**
   * The block of that hash.
   *
   * @throws {DamagedError} If it is not what was written; another error if it is gone.
   */
  async block(hash: string): Promise<Block> {
    const parsed = this.#parsed.get(hash);
    if (parsed) return parsed;
    const block = await readBlock(await onlyFrame(this.#blockPath(hash)));
    if (block.hash !== hash) throw new DamagedError("the block must be that of its file's name");
    this.#parsed.set(hash, block);
    return block;
  }

  /** Renames the file of a window that is sent from now on, and returns it. */
  async markSent(file: WindowFile): Promise<WindowFile> {
    const sent = { ...file, sent: true };
    await Deno.rename(this.#path(file), this.#path(sent));
    return sent;
  }

  /** Keeps a window in place of the one that the service has stored before it. */
  async markStored(file: WindowFile): Promise<void> {
    await Deno.rename(this.#path(file), `${this.directory}/${STORED}`);
  }

  /** Any block, all of which tell the instance; `undefined`: there is none that can be read. */
  async anyBlock(): Promise<Block | undefined> {
    for (const hash of this.#blocks.keys()) {
      const block = await this.block(hash).catch(() => undefined);
      if (block) return block;
    }
  }

  /** Moves a window to a folder of the directory. */
  async moveTo(folder: string, file: WindowFile): Promise<void> {
    const path = `${this.directory}/${folder}`;
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
    await Deno.rename(this.#path(file), `${path}/${nameOf(file)}`);
  }

  /** Removes a window. */
  async remove(file: WindowFile): Promise<void> {
    await Deno.remove(this.#path(file));
  }

  /** Removes all other blocks. */
  async removeBlocksExcept(named: ReadonlySet<string>): Promise<void> {
    for (const hash of [...this.#blocks.keys()].filter((hash) => !named.has(hash))) {
      this.#blocks.delete(hash);
      this.#parsed.delete(hash);
      // One that stays is removed with the directory.
      await Deno.remove(this.#blockPath(hash)).catch(() => {});
    }
  }

  #path(file: WindowFile): string {
    return `${this.directory}/${nameOf(file)}`;
  }

  #blockPath(hash: string): string {
    return `${this.directory}/${hash}.block`;
  }
}

function nameOf({ from_ns, to_ns, block, sent }: WindowFile): string {
  return `${from_ns}-${to_ns}.${block}.${sent ? "sent" : "new"}.window`;
}

/** Whether a file of the directory is only a note, without which nothing is lost. */
export function isNote(name: string): boolean {
  return name === STORED || name === "lock" || name === "destination" || name.endsWith(".tmp");
}

/** The frame of a file that has one. */
async function onlyFrame(path: string): Promise<Frame> {
  const [frame, ...more] = readFrames(await Deno.readFile(path));
  if (frame && more.length === 0) return frame;
  throw new DamagedError("a file of a spool must have one frame");
}
