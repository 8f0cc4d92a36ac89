/** The segments below directories: found, opened, and removed once their writer has ended. */

import { errorText } from "../../base/log.ts";
import { Segment } from "./segment.ts";

/** Names of segments: pid, start time, and a number where these two are taken. */
export const SEGMENT_NAME = /^\d+-\d+(-\d+)?$/;

/** Where the segments are. */
export interface SegmentsOptions<Entry> {
  directories: readonly string[];
  /** What is kept of a segment that was just opened. */
  enter(segment: Segment): Entry;
  /** Called when a segment is given up, with the reason. */
  refused(path: string, why: string): void;
}

/** The open segments, each with an entry of its reader. */
export class Segments<Entry> implements Disposable {
  readonly #options: SegmentsOptions<Entry>;
  readonly #open = new Map<string, { segment: Segment; entry: Entry }>();
  /** Paths of segments that were given up. */
  readonly #done = new Set<string>();
  #refused = 0;

  /** Segments that are still to be discovered. */
  constructor(options: SegmentsOptions<Entry>) {
    this.#options = options;
  }

  /** Number of open segments. */
  get size(): number {
    return this.#open.size;
  }

  /** Number of segments refused so far. */
  get refused(): number {
    return this.#refused;
  }

  /** Opens new segments. */
  discover(): void {
    for (const directory of this.#options.directories) {
      for (const name of names(directory)) {
        const path = `${directory}/${name}`;
        if (this.#open.has(path) || this.#done.has(path)) continue;
        this.guard(path, () => {
          const segment = Segment.open(path);
          if (segment) this.#open.set(path, { segment, entry: this.#options.enter(segment) });
        });
      }
    }
  }

  /** Does `work` for each segment. */
  each(work: (entry: Entry, path: string) => void): void {
    for (const [path, { entry }] of [...this.#open]) this.guard(path, () => work(entry, path));
  }

  /** Does `work`; refuses the segment at `path` if it fails, and the others are read on. */
  guard(path: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#close(path);
      // Its writer has removed it.
      if (error instanceof Deno.errors.NotFound) return;
      this.#done.add(path);
      this.#refused++;
      this.#options.refused(path, errorText(error));
    }
  }

  /** Closes and removes the segment at `path`, whose writer has ended. */
  remove(path: string): void {
    this.#close(path);
    try {
      Deno.removeSync(path);
    } catch {
      // Gone already, or not removable: in both cases it is not read again.
      this.#done.add(path);
    }
  }

  #close(path: string): void {
    this.#open.get(path)?.segment[Symbol.dispose]();
    this.#open.delete(path);
  }

  [Symbol.dispose](): void {
    for (const path of [...this.#open.keys()]) this.#close(path);
  }
}

function names(directory: string): string[] {
  try {
    return Array.from(Deno.readDirSync(directory), ({ name }) => name)
      .filter((name) => SEGMENT_NAME.test(name));
  } catch {
    return [];
  }
}
