/**
 * The run file: all windows of a run on disk, for readers of the run and after it. Windows are handed
 * over without waiting for the disk.
 */

import { type InstanceHead, type PackedWindow, scanWindows } from "@service/core/packed";
import { errorText } from "../base/log.ts";
import { waitFor } from "../base/patience.ts";
import type { Recorder } from "../sources/recorder.ts";
import type { Source } from "../sources/source.ts";
import { compacted } from "./compact.ts";
import { chunksOf, removeOldRuns, runFilePath } from "./directory.ts";
import { type WaitingWindow, WaitingWindows } from "./waiting.ts";
import { createWindowFile, type WindowFile } from "./window_file.ts";

/** The run, and the directory of its file. */
export interface RunFileOptions {
  instance: InstanceHead;
  /** Directory of all run files. */
  directory: string;
  /** Tells the user; called once for each kind of message. */
  warn: (message: string) => void;
  /** Most bytes of the file, {@linkcode RUN_FILE_BYTES} unless given. */
  limit?: number;
  /** Creates a file, {@linkcode createWindowFile} unless given. */
  create?: (path: string) => Promise<WindowFile>;
}

/** Most bytes of a run file. */
export const RUN_FILE_BYTES: number = 32 * 2 ** 20;

/** Part of the limit that is kept free for the end of a run, which does not wait for a compaction. */
const RESERVE = 1 / 16;

/** Part of the limit that a compaction frees. */
const FREED = 1 / 4;

const NO_TAGS = {};

/** Writes the windows of a run, and measures how many are not in the file. */
export class RunFile implements Source {
  readonly #options: Required<RunFileOptions>;
  readonly #path: string;
  readonly #waiting: WaitingWindows;
  readonly #warned = new Set<string>();
  /** The file, once it is open. */
  #file: WindowFile | undefined;
  #inHand: WaitingWindow | undefined;
  #writing: Promise<void> | undefined;
  /** A compaction that failed is tried again when so many windows wait. */
  #compactAt = 0;
  #finishing = false;

  /** A file that is created when the first window comes. */
  constructor(options: RunFileOptions) {
    this.#options = { limit: RUN_FILE_BYTES, create: createWindowFile, ...options };
    this.#path = runFilePath(options.directory, options.instance.instance_id);
    this.#waiting = new WaitingWindows(options.instance);
  }

  /** Windows that are not in the file. */
  get pending(): number {
    return this.#waiting.count + (this.#inHand?.count ?? 0);
  }

  /** Takes over the newest window, and does not wait for the disk. Calls must not overlap. */
  async add(window: PackedWindow): Promise<void> {
    await this.#waiting.add(window);
    this.#write();
  }

  /** Resolves when all windows are in the file, or after `patience_ms`. */
  async finish(patience_ms: number): Promise<void> {
    this.#finishing = true;
    await waitFor(this.#finish(), patience_ms);
    const { pending } = this;
    if (pending > 0) {
      this.#warn("incomplete", `${pending} windows of the run are not in ${this.#path}`);
    }
  }

  /** Records the windows that are not in the file. */
  sample(recorder: Recorder): void {
    recorder.gauge("profiler_run_file_pending_windows", NO_TAGS, this.pending);
  }

  async #finish(): Promise<void> {
    await this.#writing;
    // What a compaction has kept waiting.
    this.#write();
    await this.#writing;
    if (!this.#file) return;
    // Without a window it would only take the place of another run.
    if (this.#file.size === 0) await Deno.remove(this.#path).catch(() => {});
    this.#file[Symbol.dispose]();
  }

  #write(): void {
    if (this.pending < this.#compactAt && !this.#finishing) return;
    this.#writing ??= this.#writeAll().finally(() => this.#writing = undefined);
  }

  async #writeAll(): Promise<void> {
    while ((this.#inHand = this.#waiting.take())) {
      try {
        await this.#append(this.#inHand);
      } catch (error) {
        this.#waiting.putBack(this.#inHand);
        this.#inHand = undefined;
        if (error instanceof RunEnded) return;
        return this.#warn(
          "failing",
          `cannot write ${this.#path}, windows wait in memory: ${errorText(error)}`,
        );
      }
    }
  }

  async #append(window: WaitingWindow): Promise<void> {
    const { limit, directory, create } = this.#options;
    if (!this.#file) {
      await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
      this.#file = await create(this.#path);
      // Others may be removing them too.
      await removeOldRuns(directory).catch(() => {});
    }
    const free = () => limit - this.#file!.size - this.#file!.bytesOf(window);
    const isFull = () => free() < (this.#finishing ? 0 : limit * RESERVE);
    while (this.#file.size > 0 && isFull()) await this.#compact(limit * FREED - free());
    await this.#file.append(window);
  }

  /** Replaces the file by one that is at least `excess` bytes smaller, if merging can save them. */
  async #compact(excess: number): Promise<void> {
    const path = `${this.#path}.${crypto.randomUUID()}.tmp`;
    const smaller = await this.#options.create(path);
    try {
      using file = await Deno.open(this.#path);
      for await (
        const window of compacted(scanWindows(chunksOf(file)), { excess, leftOut: this.#leftOut })
      ) {
        // The last windows of a run do not wait: there is room for them in the file as it is.
        if (this.#finishing) throw new RunEnded();
        await smaller.append(window);
      }
      await Deno.rename(path, this.#path);
    } catch (error) {
      this.#compactAt = 2 * this.pending;
      smaller[Symbol.dispose]();
      await Deno.remove(path).catch(() => {});
      throw error;
    }
    this.#compactAt = 0;
    this.#file![Symbol.dispose]();
    this.#file = smaller;
  }

  #leftOut = (): void =>
    this.#warn(
      "left out",
      `the oldest windows of ${this.#path} are left out: merged, they have more series than a window may have`,
    );

  #warn(kind: string, message: string): void {
    if (!this.#warned.has(kind)) this.#options.warn(message);
    this.#warned.add(kind);
  }
}

/** The end of a compaction: the run has ended. */
class RunEnded extends Error {}
