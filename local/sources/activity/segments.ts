/** The segments of a run: found, read, and removed once their process has ended. */

import { errorText } from "../../base/log.ts";
import { SEGMENT_NAME } from "./directories.ts";
import { type ProcessIdentity, processIdentity } from "./process_identity.ts";
import type { Recorder } from "../recorder.ts";
import { Segment } from "./segment.ts";
import type { AskSegment } from "../../base/native.ts";

/** Longest wait for an answer. */
const ANSWER_MS = 20;

/** A process with a segment. */
export interface SegmentProcess extends ProcessIdentity {
  segment: Segment;
  /** Whether it was alive at the last reading. */
  alive: boolean;
}

/** Where the segments are, and how they are read. */
export interface SegmentsOptions {
  directories: readonly string[];
  /** Asks a process to publish; absent where nothing native can be opened: then values are older. */
  ask: AskSegment | null;
  /** Called when a segment is given up, with the reason. */
  refused(path: string, why: string): void;
}

/** The segments of a run. */
export class Segments implements Disposable {
  readonly #options: SegmentsOptions;
  readonly #open = new Map<string, SegmentProcess>();
  /** Paths of segments that were given up. */
  readonly #done = new Set<string>();
  #refused = 0;

  /** Segments that are still to be discovered. */
  constructor(options: SegmentsOptions) {
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
        this.#guard(path, () => {
          const segment = Segment.open(path);
          if (!segment) return;
          const identity = processIdentity(segment.layout);
          this.#open.set(path, { ...identity, segment, alive: true });
        });
      }
    }
  }

  /**
   * Asks all living processes to publish, and waits for their answers for a short time. An answer to
   * an earlier question that came after its reading is recorded first.
   */
  async ask(recorder: Recorder): Promise<void> {
    const { ask } = this.#options;
    if (!ask) return;
    let waiting: SegmentProcess[] = [];
    this.#each((process, path) => {
      // A process that has not answered the last question is not waited for again.
      const { segment, tags } = process;
      if (!answers(process) || !segment.isAnswered()) return;
      if (segment.isLate() && segment.read(false)) segment.record(recorder, { tags, all: false });
      if (ask(path, segment.recordedAnswer) > 0) waiting.push(process);
    });
    const until_ms = performance.now() + ANSWER_MS;
    while (waiting.length > 0 && performance.now() < until_ms) {
      await new Promise((done) => setTimeout(done, 1));
      waiting = waiting.filter(({ segment }) => {
        let isWaiting = false;
        this.#guard(segment.file.path, () => isWaiting = !segment.isAnswered());
        return isWaiting;
      });
    }
  }

  /**
   * Records the increases of all segments; with `all` also unchanged series of living processes.
   * Calls `read` for each segment that was read, a last time after its process has ended.
   */
  record(recorder: Recorder, all: boolean, read?: (process: SegmentProcess) => void): void {
    this.#each((process, path) => {
      const { segment, tags } = process;
      // Before the reading: a process that has ended by then has written everything.
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
      // Gone already, or not removable: in both cases it is not read again.
      this.#done.add(path);
    }
  }

  #each(work: (process: SegmentProcess, path: string) => void): void {
    for (const [path, process] of [...this.#open]) this.#guard(path, () => work(process, path));
  }

  /** Refuses the segment where `work` fails; the others are read on. */
  #guard(path: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#open.get(path)?.segment[Symbol.dispose]();
      this.#open.delete(path);
      // Its writer has removed it.
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

/** Whether the process has a thread that waits for questions. */
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
