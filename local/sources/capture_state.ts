/** Says what this run does not capture, and why, so that silence is never mistaken for zero. */

import type { Tags } from "@service/core";
import type { Recorder, Source } from "./recorder.ts";

/** What a run captures, and what not. */
export interface Capture {
  /** What is captured. */
  captured: readonly string[];
  /** What is not, and why. */
  missing: Readonly<Record<string, string>>;
}

/** Publishes `profiler_capture_state`: 1 for what is captured, 0 with the reason for what is missing. */
export function createCaptureSource({ captured, missing }: Capture): Source {
  const states = Object.entries(missing).map(([capture, reason]): Tags => ({ capture, reason }));
  return {
    sample(recorder: Recorder) {
      for (const capture of captured) recorder.gauge("profiler_capture_state", { capture }, 1);
      for (const tags of states) recorder.gauge("profiler_capture_state", tags, 0);
    },
  };
}
