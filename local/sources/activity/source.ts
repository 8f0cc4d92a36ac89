/** What the workload's CUDA processes measure of themselves, and whether they do. */

import type { Tags } from "@service/core";
import { processTags } from "./process_tags.ts";
import type { AskSegment } from "../../base/native.ts";
import type { Recorder, Source } from "../recorder.ts";
import type { Segment, SegmentState } from "./segment.ts";
import { type SegmentProcess, Segments } from "./segments.ts";

/** Where the processes' numbers lie. */
export interface CudaOptions {
  /** Of the segments. */
  directories: readonly string[];
  ask: AskSegment | null;
  /** Tells a segment's process. */
  identify?: (segment: Segment) => Record<string, string>;
}

const CAPTURE = { capture: "gpu_kernels" };

/** Tags of what is said of all processes together: the same whatever the value, or both would stay. */
const WHOLE: Tags = {
  ...CAPTURE,
  reason: "0 until a process of the workload starts CUDA and is captured",
};

/** A source of what CUDA processes measure. */
export function createCudaSource(options: CudaOptions): Source & Disposable {
  const { directories, ask, identify = ({ layout }) => processTags(layout) } = options;
  const told = new Map<Segment, string>();
  let refusals: { path: string; why: string }[] = [];
  let counted = 0;
  let captured = false;
  const segments = new Segments({
    directories,
    ask,
    identify,
    refused: (path, why) => refusals.push({ path, why }),
  });

  function tell(recorder: Recorder, process: SegmentProcess): void {
    const { segment, tags, alive } = process;
    const state = alive ? segment.state : "ended";
    const { reason } = segment;
    const text = reason === "" ? state : `${state}: ${reason}`;
    const before = told.get(segment);
    const captures = segment.state === "capturing" ||
      (segment.state === "ended" && !before?.startsWith("interrupted"));
    captured ||= captures;
    // A refusal is for good; what may change has no reason among its tags, or each would stay.
    const why: Tags = segment.state === "refused" ? { reason } : {};
    recorder.gauge("profiler_capture_state", { ...CAPTURE, ...tags, ...why }, captures ? 1 : 0);
    const warning = before === text ? undefined : changeOf(before, { state, reason });
    if (warning) recorder.error({ level: "warning", message: warning, exception: "", tags });
    if (alive) told.set(segment, text);
    else told.delete(segment);
    recorder.resource("process", tags, { "profiler.capture": text });
  }

  function read(recorder: Recorder, all: boolean): void {
    segments.record(recorder, all, (process) => {
      if (all || told.get(process.segment) === undefined || !process.alive) tell(recorder, process);
    });
    for (const { path, why } of refusals) {
      const message =
        `service-run: the segment ${path} is refused, its process is not seen: ${why}`;
      recorder.error({ level: "warning", message, exception: "" });
    }
    refusals = [];
  }

  return {
    async sample(recorder) {
      segments.discover();
      await segments.ask(recorder);
      read(recorder, true);
      // Until a process has started CUDA, silence would look like idle GPUs.
      recorder.gauge("profiler_capture_state", WHOLE, captured ? 1 : 0);
      recorder.counter("profiler_refused_segments_total", {}, segments.refused - counted);
      counted = segments.refused;
    },
    canRefresh() {
      // The first reader after a process has started CUDA is to see it.
      segments.discover();
      return segments.size > 0;
    },
    async refresh(recorder) {
      await segments.ask(recorder);
      read(recorder, false);
    },
    [Symbol.dispose]: () => segments[Symbol.dispose](),
  };
}

/** The warning that a change deserves. */
function changeOf(
  before: string | undefined,
  { state, reason }: { state: SegmentState; reason: string },
): string | undefined {
  if (state === "interrupted") {
    return `service-run: GPU activity is not captured for now: ${reason}`;
  }
  if (state === "capturing" && before?.startsWith("interrupted")) {
    return "service-run: GPU activity is captured again; what ran in between is missing";
  }
}
