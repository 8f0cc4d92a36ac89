/** One process's segment: what it measured since it was last read. `ffi/segment/segment.h` describes it. */

import type { Bins, FrameSum, Sum, Tags } from "@service/core";
import { addSums, exact } from "@service/core/sum";
import type { Gain, Recorder } from "../recorder.ts";
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

/** States of a process, by their number in the segment. */
export const SEGMENT_STATES = ["starting", "capturing", "interrupted", "refused", "ended"] as const;

/** What a process captures. */
export type SegmentState = typeof SEGMENT_STATES[number];

/** How a reading is recorded. */
export interface SegmentRecording {
  /** Of the process, added to those of each series. */
  tags: Tags;
  /** Whether series that did not change are recorded too, so that they do not age. */
  all: boolean;
}

/** Generations that may be torn before the next reading is waited for. */
const MAX_TRIES = 20;

const WORD = 2 ** 32;

/** An open segment. */
export class Segment implements Disposable {
  readonly file: SegmentFile;
  readonly layout: SegmentLayout;
  readonly #tables: SegmentTables;
  #progress: SegmentProgress;
  // Values as pairs of 32-bit words: a BigInt for each would be garbage by the megabyte.
  #last: Uint32Array = new Uint32Array(0);
  #now: Uint32Array = new Uint32Array(0);
  /** Histograms are told by answers, and lag behind all else. */
  #counted: Uint32Array = new Uint32Array(0);
  #histogramsDue = false;
  #taken = 0;
  readonly #recorded = new Set<SegmentSeries>();

  /**
   * The segment behind `file`, which it closes in the end.
   *
   * @throws {SegmentRefusal} If it is none that this version can read.
   */
  constructor(file: SegmentFile) {
    this.file = file;
    const header = file.header();
    this.layout = readLayout(header, file.bytes);
    this.#progress = readProgress(header, this.layout);
    this.#tables = new SegmentTables(file, this.layout);
  }

  /** Opens the segment at `path`, or `null` where its writer has only begun to make it. */
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

  /** What the process captured when it was last read. */
  get state(): SegmentState {
    return SEGMENT_STATES[this.#progress.state] ??
      refuseSegment(`its state is ${this.#progress.state}`);
  }

  /** Why it does not capture, or the empty string. */
  get reason(): string {
    return this.#progress.reason === 0 ? "" : this.#tables.text(this.#progress.reason);
  }

  /** The last answer whose histograms were recorded. */
  get taken(): number {
    return this.#taken;
  }

  /** Whether nothing is asked that is not answered, as of now. */
  isAnswered(): boolean {
    this.#progress = readProgress(this.file.header(), this.layout);
    return this.#progress.asked === this.#progress.answered;
  }

  /** Whether the last answer came after its reading. */
  isLate(): boolean {
    return this.#progress.answered !== this.#taken;
  }

  /**
   * Reads one whole generation, and returns whether there was one. `final`: the writer is gone.
   *
   * @throws {SegmentRefusal} If it cannot be what a writer left.
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
      this.#counted = grown(this.#counted, this.#now.length);
      // While nothing is asked no histogram changes.
      this.#histogramsDue = final ||
        (before.asked === before.answered && after.answered === before.answered);
      return true;
    }
    if (final) refuseSegment("none of its generations is whole");
    return false;
  }

  /** Records what was gained since the last recording; each gain is recorded once. */
  record(recorder: Recorder, { tags, all }: SegmentRecording): void {
    for (const series of this.#tables.series) {
      this.#recordSeries(recorder, series, { tags: { ...series.tags, ...tags }, all });
    }
    if (this.#histogramsDue) {
      this.#counted = this.#now;
      this.#taken = this.#progress.answered;
    }
    this.#last = this.#now;
  }

  #recordSeries(recorder: Recorder, series: SegmentSeries, { tags, all }: SegmentRecording): void {
    const { name, type, cells } = series;
    const changed = cells.some(({ at }) => this.#isChanged(at * 4, type === "histogram"));
    // Once at least: zero is an answer, and an empty profile, too.
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
          cells.map(({ at }) => this.#gain(at * 4)).reduce(addSums, 0),
        );
        break;
      case "histogram":
        recorder.histogram(name, tags, this.#histogramGain(cells));
        break;
      case "profile":
        recorder.profile(name, tags, this.#frames(cells));
    }
  }

  #isChanged(word: number, counted: boolean): boolean {
    if (counted && !this.#histogramsDue) return false;
    const now = this.#now;
    const last = counted ? this.#counted : this.#last;
    return now[word] !== last[word] || now[word + 1] !== last[word + 1] ||
      now[word + 2] !== last[word + 2] || now[word + 3] !== last[word + 3];
  }

  #frames(cells: readonly SegmentCell[]): Map<string, FrameSum> {
    const frames = new Map<string, FrameSum>();
    for (const { at, frame } of cells) {
      const word = at * 4;
      if (!this.#isChanged(word, false)) continue;
      const value = this.#gain(word);
      const samples = count(this.#gain(word + 2));
      const same = frames.get(frame);
      if (same) {
        same.value = addSums(same.value, value);
        same.samples += samples;
      } else frames.set(frame, { value, samples });
    }
    return frames;
  }

  #histogramGain(cells: readonly SegmentCell[]): Gain {
    const gain: Gain = { count: 0, sum: 0, min: null, max: null, buckets: { bins: new Map() } };
    if (!this.#histogramsDue) return gain;
    const bins: Bins = new Map();
    let binned = 0;
    for (const { at, bin } of cells) {
      if (bin === EXTREMES) [gain.min, gain.max] = this.#extremes(at * 4);
      else if (bin === SUM) {
        gain.sum = addSums(gain.sum, this.#gain(at * 4, this.#counted));
        gain.count += count(this.#gain(at * 4 + 2, this.#counted));
      } else {
        const times = count(this.#gain(at * 4, this.#counted));
        if (times > 0) bins.set(bin, (bins.get(bin) ?? 0) + times);
        binned += times;
      }
    }
    if (gain.count === 0) gain.min = gain.max = null;
    // Where there was no room for a bin, none can be told.
    return { ...gain, buckets: binned === gain.count ? { bins } : null };
  }

  #extremes(word: number): [number | null, number | null] {
    const least = Number(word64(this.#now, word));
    const greatest = Number(word64(this.#now, word + 2));
    return least > greatest ? [null, null] : [least, greatest];
  }

  /** What the 64-bit number at `word` gained since `last`. */
  #gain(word: number, last = this.#last): Sum {
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

/** `words`, and zeros up to `length`. */
function grown(words: Uint32Array, length: number): Uint32Array {
  if (words.length >= length) return words;
  const more = new Uint32Array(length);
  more.set(words);
  return more;
}

function word64(words: Uint32Array, word: number): bigint {
  return BigInt(words[word + 1] ?? 0) << 32n | BigInt(words[word] ?? 0);
}

function count(gained: Sum): number {
  if (typeof gained === "number" && Number.isSafeInteger(gained)) return gained;
  return refuseSegment("it counts past 2^53");
}
