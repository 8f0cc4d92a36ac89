/** All segments of a run: found, read, and removed once their process is gone. */

import { errorText } from "../../base/log.ts";
import { SEGMENT_NAME } from "./directories.ts";
import type { Recorder } from "../recorder.ts";
import { Segment } from "./segment.ts";
import type { AskSegment } from "../../base/native.ts";

/** How long an answer is waited for. */
const ANSWER_MS = 20;

/** A process that has a segment, as those who read it know it. */
export interface SegmentProcess {
  segment: Segment;
  /** Its own among the tags. */
  tags: Record<string, string>;
  /** Whether it lived when it was last looked at. */
  alive: boolean;
}

/** What the segments of a run are read with. */
export interface SegmentsOptions {
  directories: readonly string[];
  /** Absent where nothing native can be opened: then values are as old as the last publication. */
  ask: AskSegment | null;
  /** The tags that tell a segment's process. */
  identify(segment: Segment): Record<string, string>;
  /** Hears of a segment that is not read any more, and why. */
  refused(path: string, why: string): void;
}

/** The segments of a run. */
export class Segments implements Disposable {
  readonly #options: SegmentsOptions;
  readonly #open = new Map<string, SegmentProcess>();
  /** Those that are not to be read any more. */
  readonly #done = new Set<string>();
  #refused = 0;

  /** Segments in these directories, none read yet. */
  constructor(options: SegmentsOptions) {
    this.#options = options;
  }

  /** How many there are to read. */
  get size(): number {
    return this.#open.size;
  }

  /** How many were refused so far. */
  get refused(): number {
    return this.#refused;
  }

  /** Finds new ones. */
  discover(): void {
    for (const directory of this.#options.directories) {
      for (const name of names(directory)) {
        const path = `${directory}/${name}`;
        if (this.#open.has(path) || this.#done.has(path)) continue;
        this.#guard(path, () => {
          const segment = Segment.open(path);
          if (!segment) return;
          const tags = this.#options.identify(segment);
          this.#open.set(path, { segment, tags, alive: true });
        });
      }
    }
  }

  /**
   * Asks all that live for what they have now, and waits a little for their answers. What answers an
   * earlier question, too late for its reading, is recorded first.
   */
  async ask(recorder: Recorder): Promise<void> {
    const { ask } = this.#options;
    if (!ask) return;
    let waiting: SegmentProcess[] = [];
    this.#each((process, path) => {
      // One that has not answered the last time is not waited for again.
      const { segment, tags } = process;
      if (!answers(process) || !segment.isAnswered()) return;
      if (segment.isLate() && segment.read(false)) segment.record(recorder, { tags, all: false });
      if (ask(path, segment.taken) > 0) waiting.push(process);
    });
    const until_ms = performance.now() + ANSWER_MS;
    while (waiting.length > 0 && performance.now() < until_ms) {
      await new Promise((done) => setTimeout(done, 1));
      waiting = waiting.filter(({ segment }) => {
        let silent = false;
        this.#guard(segment.file.path, () => silent = !segment.isAnswered());
        return silent;
      });
    }
  }

  /**
   * Records what all of them gained, and with `all` also what did not change, where its process lives.
   * Calls `read` for each that was read: a last time when its process is gone.
   */
  record(recorder: Recorder, all: boolean, read?: (process: SegmentProcess) => void): void {
    this.#each((process, path) => {
      const { segment, tags } = process;
      // First: what is written until the end of a process is there when it is gone.
      const alive = segment.file.isAlive();
      if (!segment.read(!alive)) return;
      process.alive = alive;
      segment.record(recorder, { tags, all: all && alive });
      read?.(process);
      if (!alive) this.#remove(path);
    });
  }

  #remove(path: string): void {
    this.#open.get(path)?.segment[Symbol.dispose]();
    this.#open.delete(path);
    try {
      Deno.removeSync(path);
    } catch {
      // Gone, or not to be removed: it is not to be read again in any case.
      this.#done.add(path);
    }
  }

  #each(work: (process: SegmentProcess, path: string) => void): void {
    for (const [path, process] of [...this.#open]) this.#guard(path, () => work(process, path));
  }

  /** What is wrong with one segment is no matter of the others. */
  #guard(path: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#open.get(path)?.segment[Symbol.dispose]();
      this.#open.delete(path);
      // Whoever wrote it has taken it back.
      if (error instanceof Deno.errors.NotFound) return;
      this.#done.add(path);
      this.#refused++;
      this.#options.refused(path, errorText(error));
    }
  }

  [Symbol.dispose](): void {
    for (const { segment } of this.#open.values()) segment[Symbol.dispose]();
    this.#open.clear();
  }
}

/** Whether its writer has a thread that waits for questions. */
function answers({ segment, alive }: SegmentProcess): boolean {
  return alive && segment.state !== "refused" && segment.state !== "ended";
}

function names(directory: string): string[] {
  try {
    return Array.from(Deno.readDirSync(directory), ({ name }) => name)
      .filter((name) => SEGMENT_NAME.test(name));
  } catch {
    return [];
  }
}
