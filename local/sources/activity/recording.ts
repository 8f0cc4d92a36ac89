/** The recording of a process: what its segment has gained since it was last recorded. */

import type { Bins, FrameSum, Tags } from "@service/core";
import { addSums } from "@service/core/sum";
import type { HistogramIncrease, Recorder } from "../recorder.ts";
import type { Segment } from "../segments/segment.ts";
import { EXTREMES, type SegmentCell, type SegmentSeries, SUM } from "../segments/tables.ts";
import { CellValues } from "../segments/values.ts";

/** Tags and extent of a recording. */
export interface RecordingOptions {
  /** Tags of the process, added to those of each series. */
  tags: Tags;
  /** Whether unchanged series are recorded too, so that they do not age. */
  all: boolean;
}

/** Reads a segment, and records each increase once. */
export class Recording {
  readonly #segment: Segment;
  readonly #values = new CellValues();
  /** Values for histograms, which change only with an answer and are recorded then. */
  readonly #histogramValues = new CellValues();
  #histogramsDue = false;
  #recordedAnswer = 0;
  readonly #recorded = new Set<SegmentSeries>();
  #recordedNames = 0;

  /** A recording of `segment` that has recorded nothing yet. */
  constructor(segment: Segment) {
    this.#segment = segment;
  }

  /** The last answer whose histograms were recorded. */
  get recordedAnswer(): number {
    return this.#recordedAnswer;
  }

  /** Whether the last answer came after the reading that waited for it. */
  isLate(): boolean {
    return this.#segment.answer !== this.#recordedAnswer;
  }

  /**
   * Reads the values; returns whether it could. `final` says that the writer has ended.
   *
   * @throws {SegmentRefusal} If no writer could have left the segment so.
   */
  read(final: boolean): boolean {
    const reading = this.#segment.read(final);
    if (!reading) return false;
    this.#values.update(reading.words);
    this.#histogramValues.update(reading.words);
    this.#histogramsDue = reading.answered;
    return true;
  }

  /** Records the increases since the last recording, each of them once. */
  record(recorder: Recorder, { tags, all }: RecordingOptions): void {
    for (const series of this.#segment.series) {
      this.#recordSeries(recorder, series, { tags: { ...series.tags, ...tags }, all });
    }
    const { replacedNames } = this.#segment;
    recorder.counter("profiler_replaced_names_total", tags, replacedNames - this.#recordedNames);
    this.#recordedNames = replacedNames;
    if (this.#histogramsDue) {
      this.#histogramValues.markRecorded();
      this.#recordedAnswer = this.#segment.answer;
    }
    this.#values.markRecorded();
  }

  #recordSeries(recorder: Recorder, series: SegmentSeries, { tags, all }: RecordingOptions): void {
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
}
