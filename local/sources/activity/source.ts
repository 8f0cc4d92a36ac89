/**
 * The source of GPU activity: the measurements that processes of the workload leave in segments, and
 * whether each process is captured. Which library wrote a segment makes no difference.
 */

import { tsFromNs } from "@service/core/time";
import type { AskSegment } from "../../base/native.ts";
import { recordCaptureState } from "../capture_state.ts";
import type { Recorder } from "../recorder.ts";
import type { Source } from "../source.ts";
import type { Segment, SegmentState } from "../segments/segment.ts";
import { type SegmentProcess, SegmentProcesses } from "./segment_processes.ts";

/** Where the segments are, and how they are read. */
export interface ActivityOptions {
  directories: readonly string[];
  /** Absent where nothing native can be opened. */
  ask: AskSegment | null;
}

const CAPTURE = "gpu_kernels";

/** A source of GPU activity. */
export function createActivitySource(options: ActivityOptions): Source & Disposable {
  return new ActivitySource(options);
}

class ActivitySource implements Source, Disposable {
  readonly #processes: SegmentProcesses;
  /** The last description of each living process, such as `refused: …`. */
  readonly #described = new Map<Segment, string>();
  /** Epoch seconds. */
  readonly #firstSeen = new WeakMap<Segment, number>();
  #refusals: string[] = [];
  #refused = 0;
  #hasCaptured = false;

  constructor({ directories, ask }: ActivityOptions) {
    this.#processes = new SegmentProcesses({
      directories,
      ask,
      refused: (path, why) =>
        this.#refusals.push(`the segment ${path} is refused, its process is not seen: ${why}`),
    });
  }

  async sample(recorder: Recorder): Promise<void> {
    this.#processes.discover();
    await this.#processes.ask(recorder);
    this.#read(recorder, true);
    // Without it, GPUs would look idle until a process is captured.
    recordCaptureState(recorder, {
      capture: CAPTURE,
      reason: "0 until a process of the workload uses a GPU and is captured",
      captured: this.#hasCaptured,
    });
    recorder.counter(
      "profiler_refused_segments_total",
      {},
      this.#processes.refused - this.#refused,
    );
    this.#refused = this.#processes.refused;
  }

  canRefresh(): boolean {
    // The first reader after a process has begun is to see it.
    this.#processes.discover();
    return this.#processes.size > 0;
  }

  async refresh(recorder: Recorder): Promise<void> {
    await this.#processes.ask(recorder);
    this.#read(recorder, false);
  }

  #read(recorder: Recorder, all: boolean): void {
    this.#processes.record(recorder, all, (process) => {
      const isDescribed = this.#described.get(process.segment) === descriptionOf(process);
      if (all || !isDescribed) this.#describe(recorder, process);
    });
    for (const refusal of this.#refusals) recorder.warn(refusal);
    this.#refusals = [];
  }

  #describe(recorder: Recorder, process: SegmentProcess): void {
    const { segment, tags, resource, alive } = process;
    const { reason } = segment;
    const state = stateOf(process);
    const description = descriptionOf(process);
    const before = this.#described.get(segment);
    const wasInterrupted = before?.startsWith("interrupted") ?? false;
    const captured = segment.state === "capturing" ||
      (segment.state === "ended" && !wasInterrupted);
    this.#hasCaptured ||= captured;
    recordCaptureState(recorder, {
      capture: CAPTURE,
      // Only a refusal is final: other reasons change, and would make a series each.
      reason: segment.state === "refused" ? reason : undefined,
      captured,
      tags,
    });
    if (description !== before) warnOfChange(recorder, { state, reason, wasInterrupted, tags });
    if (alive) this.#described.set(segment, description);
    else this.#described.delete(segment);
    const first_seen_ts = this.#firstSeen.get(segment) ?? tsFromNs(recorder.now_ns);
    this.#firstSeen.set(segment, first_seen_ts);
    const attributes = { ...resource.attributes, "profiler.capture": description };
    recorder.resource("process", resource.tags, attributes, first_seen_ts);
  }

  [Symbol.dispose](): void {
    this.#processes[Symbol.dispose]();
  }
}

function stateOf({ segment, alive }: SegmentProcess): SegmentState {
  return alive ? segment.state : "ended";
}

/** State of a process and its reason, as its attribute has them. */
function descriptionOf(process: SegmentProcess): string {
  const { reason } = process.segment;
  return reason === "" ? stateOf(process) : `${stateOf(process)}: ${reason}`;
}

interface Change extends Pick<SegmentProcess, "tags"> {
  state: SegmentState;
  reason: string;
  wasInterrupted: boolean;
}

function warnOfChange(recorder: Recorder, { state, reason, wasInterrupted, tags }: Change): void {
  if (state === "interrupted") {
    recorder.warn(`GPU activity is not captured for now: ${reason}`, tags);
  } else if (state === "capturing" && wasInterrupted) {
    recorder.warn("GPU activity is captured again; what ran in between is missing", tags);
  }
}
