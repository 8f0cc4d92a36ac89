/** The segment: the measurements that one process publishes in a file, as `ffi/segment/segment.h` describes. */

import type { Bins, FrameSum, Sum, Tags } from "@service/core";
import { addSums, exact } from "@service/core/sum";
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

const WORD = 2 ** 32;

/** An open segment. */
export class Segment implements Disposable {
  readonly file: SegmentFile;
  readonly layout: SegmentLayout;
  readonly #tables: SegmentTables;
  #progress: SegmentProgress;
  // Values as pairs of 32-bit words: a BigInt for each would allocate megabytes.
  /** Values at the last recording. */
  #last: Uint32Array = new Uint32Array(0);
  /** Values of the last reading. */
  #now: Uint32Array = new Uint32Array(0);
  /** Values at the last recording of histograms, which change only with an answer. */
  #lastOfHistograms: Uint32Array = new Uint32Array(0);
  #histogramsDue = false;
  /** The last answer whose histograms were recorded. */
  #recordedAnswer = 0;
  readonly #recorded = new Set<SegmentSeries>();

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

  /** Opens the segment at `path`; `null` where its writer has not finished creating it. */
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
      this.#now = new Uint32Array(bytes.buffer);
      this.#last = grown(this.#last, this.#now.length);
      this.#lastOfHistograms = grown(this.#lastOfHistograms, this.#now.length);
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
    if (this.#histogramsDue) {
      this.#lastOfHistograms = this.#now;
      this.#recordedAnswer = this.#progress.answered;
    }
    this.#last = this.#now;
  }

  #recordSeries(recorder: Recorder, series: SegmentSeries, { tags, all }: SegmentRecording): void {
    const { name, type, cells } = series;
    const changed = cells.some(({ at }) => this.#isChanged(at * 4, type === "histogram"));
    // The first recording publishes the series, also with zero or an empty profile.
    if (!changed && !all && this.#recorded.has(series)) return;
    this.#recorded.add(series);
    switch (type) {
      case "gauge":
        for (const { at } of cells) recorder.gauge(name, tags, Number(word64(this.#now, at * 4)));
        break;
      case "counter":
        recorder.counter(
          name,
          tags,
          cells.map(({ at }) => this.#increase(at * 4)).reduce(addSums, 0),
        );
        break;
      case "histogram":
        recorder.histogram(name, tags, this.#histogramIncrease(cells));
        break;
      case "profile":
        recorder.profile(name, tags, this.#frames(cells));
    }
  }

  #isChanged(word: number, ofHistogram: boolean): boolean {
    if (ofHistogram && !this.#histogramsDue) return false;
    const now = this.#now;
    const last = ofHistogram ? this.#lastOfHistograms : this.#last;
    return now[word] !== last[word] || now[word + 1] !== last[word + 1] ||
      now[word + 2] !== last[word + 2] || now[word + 3] !== last[word + 3];
  }

  #frames(cells: readonly SegmentCell[]): Map<string, FrameSum> {
    const frames = new Map<string, FrameSum>();
    for (const { at, frame } of cells) {
      const word = at * 4;
      if (!this.#isChanged(word, false)) continue;
      const value = this.#increase(word);
      const samples = count(this.#increase(word + 2));
      const same = frames.get(frame);
      if (same) {
        same.value = addSums(same.value, value);
        same.samples += samples;
      } else frames.set(frame, { value, samples });
    }
    return frames;
  }

  #histogramIncrease(cells: readonly SegmentCell[]): HistogramIncrease {
    const increase: HistogramIncrease = {
      count: 0,
      sum: 0,
      min: null,
      max: null,
      buckets: { bins: new Map() },
    };
    if (!this.#histogramsDue) return increase;
    const bins: Bins = new Map();
    let binned = 0;
    for (const { at, bin } of cells) {
      if (bin === EXTREMES) [increase.min, increase.max] = this.#extremes(at * 4);
      else if (bin === SUM) {
        increase.sum = addSums(increase.sum, this.#increase(at * 4, this.#lastOfHistograms));
        increase.count += count(this.#increase(at * 4 + 2, this.#lastOfHistograms));
      } else {
        const times = count(this.#increase(at * 4, this.#lastOfHistograms));
        if (times > 0) bins.set(bin, (bins.get(bin) ?? 0) + times);
        binned += times;
      }
    }
    if (increase.count === 0) increase.min = increase.max = null;
    // Where the segment had no room for a bin, the bins are incomplete.
    return { ...increase, buckets: binned === increase.count ? { bins } : null };
  }

  #extremes(word: number): [number | null, number | null] {
    const least = Number(word64(this.#now, word));
    const greatest = Number(word64(this.#now, word + 2));
    return least > greatest ? [null, null] : [least, greatest];
  }

  /** The increase of the 64-bit number at `word` since `last`. */
  #increase(word: number, last = this.#last): Sum {
    const now = this.#now;
    const high = now[word + 1]!;
    const high_before = last[word + 1]!;
    const low = now[word]! - last[word]!;
    if (high < high_before || (high === high_before && low < 0)) refuseSegment("a value fell");
    // Exact in a double up to 2^53.
    if (high - high_before < 2 ** 20) return (high - high_before) * WORD + low;
    return exact(word64(now, word) - word64(last, word));
  }

  [Symbol.dispose](): void {
    this.file[Symbol.dispose]();
  }
}

/** `words` with zeros added up to `length`. */
function grown(words: Uint32Array, length: number): Uint32Array {
  if (words.length >= length) return words;
  const more = new Uint32Array(length);
  more.set(words);
  return more;
}

function word64(words: Uint32Array, word: number): bigint {
  return BigInt(words[word + 1] ?? 0) << 32n | BigInt(words[word] ?? 0);
}

function count(increase: Sum): number {
  if (typeof increase === "number" && Number.isSafeInteger(increase)) return increase;
  return refuseSegment("it counts past 2^53");
}
