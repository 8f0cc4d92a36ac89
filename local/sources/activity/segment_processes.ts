/** The processes of a run that have segments: asked for newer values, and recorded to their end. */

import { type ProcessIdentity, processIdentity } from "./process_identity.ts";
import type { Recorder } from "../recorder.ts";
import { Recording } from "./recording.ts";
import type { Segment } from "../segments/segment.ts";
import { Segments } from "../segments/segments.ts";
import type { AskSegment } from "../../base/native.ts";

/** Longest wait for an answer. */
const ANSWER_MS = 20;

/** A process with a segment. */
export interface SegmentProcess extends ProcessIdentity {
  segment: Segment;
  recording: Recording;
  /** Whether it was alive at the last reading. */
  alive: boolean;
}

/** Where the segments are, and how they are read. */
export interface SegmentProcessesOptions {
  directories: readonly string[];
  /** Asks a process to publish; absent where nothing native can be opened: then values are older. */
  ask: AskSegment | null;
  /** Called when a segment is given up, with the reason. */
  refused(path: string, why: string): void;
}

/** The processes of a run that have segments. */
export class SegmentProcesses implements Disposable {
  readonly #segments: Segments<SegmentProcess>;
  readonly #ask: AskSegment | null;

  /** Processes that are still to be discovered. */
  constructor({ directories, ask, refused }: SegmentProcessesOptions) {
    this.#ask = ask;
    this.#segments = new Segments({
      directories,
      refused,
      enter: (segment) => ({
        ...processIdentity(segment.layout),
        segment,
        recording: new Recording(segment),
        alive: true,
      }),
    });
  }

  /** Number of processes with an open segment. */
  get size(): number {
    return this.#segments.size;
  }

  /** Number of segments refused so far. */
  get refused(): number {
    return this.#segments.refused;
  }

  /** Opens the segments of new processes. */
  discover(): void {
    this.#segments.discover();
  }

  /**
   * Asks all living processes to publish, and waits for their answers for a short time. An answer to
   * an earlier question that came after its reading is recorded first.
   */
  async ask(recorder: Recorder): Promise<void> {
    const ask = this.#ask;
    if (!ask) return;
    let waiting: SegmentProcess[] = [];
    this.#segments.each((process, path) => {
      // A process that has not answered the last question is not waited for again.
      const { segment, recording, tags } = process;
      if (!answers(process) || !segment.isAnswered()) return;
      if (recording.isLate() && recording.read(false)) {
        recording.record(recorder, { tags, all: false });
      }
      if (ask(path, recording.recordedAnswer) > 0) waiting.push(process);
    });
    const until_ms = performance.now() + ANSWER_MS;
    while (waiting.length > 0 && performance.now() < until_ms) {
      await new Promise((done) => setTimeout(done, 1));
      waiting = waiting.filter(({ segment }) => {
        let isWaiting = false;
        this.#segments.guard(segment.file.path, () => isWaiting = !segment.isAnswered());
        return isWaiting;
      });
    }
  }

  /**
   * Records the increases of all segments; with `all` also unchanged series of living processes.
   * Calls `read` for each segment that was read, a last time after its process has ended.
   */
  record(recorder: Recorder, all: boolean, read?: (process: SegmentProcess) => void): void {
    this.#segments.each((process, path) => {
      const { segment, recording, tags } = process;
      // Before the reading: a process that has ended by then has written everything.
      const alive = segment.file.isAlive();
      if (!recording.read(!alive)) return;
      process.alive = alive;
      recording.record(recorder, { tags, all: all && alive });
      read?.(process);
      if (!alive) this.#segments.remove(path);
    });
  }

  [Symbol.dispose](): void {
    this.#segments[Symbol.dispose]();
  }
}

/** Whether the process has a thread that waits for questions. */
function answers({ segment, alive }: SegmentProcess): boolean {
  return alive && segment.state !== "refused" && segment.state !== "ended";
}
