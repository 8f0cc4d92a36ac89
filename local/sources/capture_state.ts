/**
 * The capture state: what this run captures and what not, with the reason, so that silence is never
 * mistaken for zero. The one writer of `profiler_capture_state`.
 */

import type { Tags } from "@service/core";
import type { Recorder } from "./recorder.ts";
import type { Source } from "./source.ts";

/** Whether one thing is captured. */
export interface CaptureState {
  /** The thing, such as `gpu_kernels`. */
  capture: string;
  captured: boolean;
  /** Part of the identity of the series: the same for both states of what may change. */
  reason?: string;
  /** Further identity, such as the process. */
  tags?: Tags;
}

/** Records the state: 1 for captured, 0 for not. */
export function recordCaptureState(recorder: Recorder, state: CaptureState): void {
  const { capture, captured, reason, tags } = state;
  const identity: Tags = { capture, ...tags, ...(reason !== undefined && { reason }) };
  recorder.gauge("profiler_capture_state", identity, captured ? 1 : 0);
}

/** A source of what is not captured in the whole run, with the reason of each. */
export function createCaptureStateSource(missing: Readonly<Record<string, string>>): Source {
  return {
    sample(recorder: Recorder) {
      for (const [capture, reason] of Object.entries(missing)) {
        recordCaptureState(recorder, { capture, captured: false, reason });
      }
    },
  };
}
