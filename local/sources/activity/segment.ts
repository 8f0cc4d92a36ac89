/** The segment: the measurements that one process publishes in a file, as `ffi/segment/segment.h` describes. */

import type { Bins, FrameSum, Tags } from "@service/core";
import { addSums } from "@service/core/sum";
import type { HistogramIncrease, Recorder } from "../recorder.ts";
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
import { EXTREMES, type SegmentCell, type SegmentSeries, SegmentTables, SUM } from "./tables.ts";
import { CellValues } from "./values.ts";

/** States of the capture, by their number in the segment. */
export const SEGMENT_STATES = ["starting", "capturing", "interrupted", "refused", "ended"] as const;

/** The state of the capture in a process. */
export type SegmentState = typeof SEGMENT_STATES[number];

/** Tags and extent of a recording. */
export interface SegmentRecording {
  /** Tags of the process, added to those of each series. */
  tags: Tags;
  /** Whether unchanged series are recorded too, so that they do not age. */
  all: boolean;
}

/** Most torn generations before reading is given up until the next time. */
const MAX_TRIES = 20;

/** An open segment. */
export class Segment implements Disposable {
  readonly file: SegmentFile;
  readonly layout: SegmentLayout;
  readonly #tables: SegmentTables;
  #progress: SegmentProgress;
  readonly #values = new CellValues();
  /** Values for histograms, which change only with an answer and are recorded then. */
  readonly #histogramValues = new CellValues();
  #histogramsDue = false;
  /** The last answer whose histograms were recorded. */
  #recordedAnswer = 0;
  readonly #recorded = new Set<SegmentSeries>();
  #recordedNames = 0;

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

  /** The last answer whose histograms were recorded. */
  get recordedAnswer(): number {
    return this.#recordedAnswer;
  }

  /** Whether every question is answered, as of now. */
  isAnswered(): boolean {
    this.#progress = readProgress(this.file.header(), this.layout);
    return this.#progress.asked === this.#progress.answered;
  }

  /** Whether the last answer came after the reading that waited for it. */
  isLate(): boolean {
    return this.#progress.answered !== this.#recordedAnswer;
  }

  /**
   * Reads one complete generation; returns whether it could. `final` says that the writer has ended.
   *
   * @throws {SegmentRefusal} If no writer could have left it so.
   */
  read(final: boolean): boolean {
    for (let i = 0; i < MAX_TRIES; i++) {
      const before = readProgress(this.file.header(), this.layout);
      const bytes = new Uint8Array(before.cell_count * VALUE_BYTES);
      this.#tables.grow(before);
      this.file.read(this.layout.banks_at[Number(before.published & 1n) as 0 | 1], bytes);
      const after = readProgress(this.file.header(), this.layout);
      if (after.begun !== before.published && after.begun !== before.published + 1n) continue;
      this.#progress = before;
      const words = new Uint32Array(bytes.buffer);
      this.#values.update(words);
      this.#histogramValues.update(words);
      // Histograms change only between a question and its answer.
      this.#histogramsDue = final ||
        (before.asked === before.answered && after.answered === before.answered);
      return true;
    }
    if (final) refuseSegment("none of its generations is whole");
    return false;
  }

  /** Records the increases since the last recording, each of them once. */
  record(recorder: Recorder, { tags, all }: SegmentRecording): void {
    for (const series of this.#tables.series) {
      this.#recordSeries(recorder, series, { tags: { ...series.tags, ...tags }, all });
    }
    const { replacedNames } = this.#tables;
    recorder.counter("profiler_replaced_names_total", tags, replacedNames - this.#recordedNames);
    this.#recordedNames = replacedNames;
    if (this.#histogramsDue) {
      this.#histogramValues.markRecorded();
      this.#recordedAnswer = this.#progress.answered;
    }
    this.#values.markRecorded();
  }

  #recordSeries(recorder: Recorder, series: SegmentSeries, { tags, all }: SegmentRecording): void {
    const { name, type, cells } = series;
    // The first recording publishes the series, also with zero or an empty profile.
    if (!all && this.#recorded.has(series) && !this.#isChanged(series)) return;
    this.#recorded.add(series);
    const values = this.#values;
    switch (type) {
      case "gauge":
        for (const { at } of cells) {
          const value = values.quotient(at);
          if (value !== null) recorder.gauge(name, tags, value);
        }
        break;
      case "counter":
        recorder.counter(
          name,
          tags,
          cells.map(({ at }) => values.increaseOfQuotient(at)).reduce(addSums, 0),
        );
        break;
      case "histogram":
        recorder.histogram(name, tags, this.#histogramIncrease(cells));
        break;
      case "profile":
        recorder.profile(name, tags, this.#frames(cells));
    }
  }

  #isChanged({ type, cells }: SegmentSeries): boolean {
    if (type !== "histogram") return cells.some(({ at }) => this.#values.isChanged(at));
    return this.#histogramsDue && cells.some(({ at }) => this.#histogramValues.isChanged(at));
  }

  #frames(cells: readonly SegmentCell[]): Map<string, FrameSum> {
    const values = this.#values;
    const frames = new Map<string, FrameSum>();
    for (const { at, frame } of cells) {
      if (!values.isChanged(at)) continue;
      const value = values.increase(at, 0);
      const samples = values.count(at, 1);
      const same = frames.get(frame);
      if (same) {
        same.value = addSums(same.value, value);
        same.samples += samples;
      } else frames.set(frame, { value, samples });
    }
    return frames;
  }

  #histogramIncrease(cells: readonly SegmentCell[]): HistogramIncrease {
    const bins: Bins = new Map();
    const increase: HistogramIncrease = {
      count: 0,
      sum: 0,
      min: null,
      max: null,
      buckets: { bins },
    };
    if (!this.#histogramsDue) return increase;
    const values = this.#histogramValues;
    let binned = 0;
    for (const { at, bin } of cells) {
      if (bin === EXTREMES) {
        const [min, max] = [values.value(at, 0), values.value(at, 1)];
        if (min <= max) [increase.min, increase.max] = [min, max];
      } else if (bin === SUM) {
        increase.sum = addSums(increase.sum, values.increase(at, 0));
        increase.count += values.count(at, 1);
      } else {
        const times = values.count(at, 0);
        if (times > 0) bins.set(bin, (bins.get(bin) ?? 0) + times);
        binned += times;
      }
    }
    if (increase.count === 0) increase.min = increase.max = null;
    // Where the segment had no room for a bin, the bins are incomplete.
    if (binned !== increase.count) increase.buckets = null;
    return increase;
  }

  [Symbol.dispose](): void {
    this.file[Symbol.dispose]();
  }
}
