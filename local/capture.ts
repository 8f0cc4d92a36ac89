/** Says what this run does not capture, and why, so that silence is never mistaken for zero. */

import type { Tags } from "@service/core";
import type { Recorder, Source } from "./recorder.ts";

/** Publishes `profiler_capture_state`: 0 for each capture that `missing` gives a reason for. */
export function createCaptureSource(missing: Record<string, string>): Source {
  const states = Object.entries(missing).map(([capture, reason]): Tags => ({ capture, reason }));
  return {
    sample(recorder: Recorder) {
      for (const tags of states) recorder.gauge("profiler_capture_state", tags, 0);
    },
  };
}
