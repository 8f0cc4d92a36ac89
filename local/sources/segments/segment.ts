/** The segment: the measurements that one process publishes in a file, as `ffi/segment/segment.h` describes. */

import { SegmentFile } from "./file.ts";
import {
  isReady,
  readLayout,
  readProgress,
  refuseSegment,
  type SegmentLayout,
  type SegmentProgress,
  VALUE_BYTES,
} from "./layout.ts";
import { type SegmentSeries, SegmentTables } from "./tables.ts";

/** States of the capture, by their number in the segment. */
export const SEGMENT_STATES = ["starting", "capturing", "interrupted", "refused", "ended"] as const;

/** The state of the capture in a process. */
export type SegmentState = typeof SEGMENT_STATES[number];

/** A call of the writer to a library that may keep it waiting. */
export interface SegmentCall {
  name: string;
  began_ns: bigint;
}

/** The values of one complete generation. */
export interface SegmentReading {
  /** Of all cells; see `CellValues`. */
  words: Uint32Array;
  /** Whether the histograms in it are those of the last answer. */
  answered: boolean;
}

/** Most torn generations before reading is given up until the next time. */
const MAX_TRIES = 20;

/** An open segment. */
export class Segment implements Disposable {
  readonly file: SegmentFile;
  readonly layout: SegmentLayout;
  readonly #tables: SegmentTables;
  #progress: SegmentProgress;

  /**
   * The segment in `file`, which is closed with it.
   *
   * @throws {SegmentRefusal} If this version cannot read it.
   */
  constructor(file: SegmentFile) {
    this.file = file;
    const header = file.header();
    this.layout = readLayout(header, file.bytes);
    this.#progress = readProgress(header, this.layout);
    this.#tables = new SegmentTables(file, this.layout);
  }

  /** Opens the segment at `path`; `null` if its writer has not finished creating it. */
  static open(path: string): Segment | null {
    const file = new SegmentFile(path);
    try {
      if (file.bytes > 0 && isReady(file.header())) return new Segment(file);
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
    file[Symbol.dispose]();
    return null;
  }

  /** The state of the capture at the last reading. */
  get state(): SegmentState {
    return SEGMENT_STATES[this.#progress.state] ??
      refuseSegment(`its state is ${this.#progress.state}`);
  }

  /** The reason of the state, or the empty string. */
  get reason(): string {
    return this.#progress.reason === 0 ? "" : this.#tables.text(this.#progress.reason);
  }

  /** The last answer. */
  get answer(): number {
    return this.#progress.answered;
  }

  /** The call in progress at the last reading; `null` if there was none. */
  get call(): SegmentCall | null {
    const { call, call_began_ns } = this.#progress;
    if (call === 0 || call_began_ns === 0n) return null;
    return { name: this.#tables.text(call), began_ns: call_began_ns };
  }

  /** All series at the last reading, in the order of their appearance. */
  get series(): readonly SegmentSeries[] {
    return this.#tables.series;
  }

  /** Number of frames so far with another name than the driver's. */
  get replacedNames(): number {
    return this.#tables.replacedNames;
  }

  /** Whether every question is answered, as of now. */
  isAnswered(): boolean {
    this.#progress = readProgress(this.file.header(), this.layout);
    return this.#progress.asked === this.#progress.answered;
  }

  /**
   * Reads one complete generation; `null` if it could not. `final` says that the writer has ended.
   *
   * @throws {SegmentRefusal} If no writer could have left it so.
   */
  read(final: boolean): SegmentReading | null {
    for (let i = 0; i < MAX_TRIES; i++) {
      const before = readProgress(this.file.header(), this.layout);
      const bytes = new Uint8Array(before.cell_count * VALUE_BYTES);
      this.#tables.grow(before);
      this.file.read(this.layout.banks_at[Number(before.published & 1n) as 0 | 1], bytes);
      const after = readProgress(this.file.header(), this.layout);
      if (after.begun !== before.published && after.begun !== before.published + 1n) continue;
      this.#progress = before;
      // Histograms change only between a question and its answer.
      const answered = final ||
        (before.asked === before.answered && after.answered === before.answered);
      return { words: new Uint32Array(bytes.buffer), answered };
    }
    if (final) refuseSegment("none of its generations is whole");
    return null;
  }

  [Symbol.dispose](): void {
    this.file[Symbol.dispose]();
  }
}
