/** The interface of a source: something that measures. */

import type { Recorder } from "./recorder.ts";

/** Something that measures; its functions never run two at a time. */
export interface Source {
  /** Measures into `recorder` once a tick; yields to the event loop if it takes more than milliseconds. */
  sample(recorder: Recorder): void | Promise<void>;
  /** Whether {@linkcode Source.refresh} would measure anything. */
  canRefresh?(): boolean;
  /** Measures between two samples, because a reader asks now; takes at most 20 ms. */
  refresh?(recorder: Recorder): Promise<void>;
  /** Reads at once what the workload takes with it: it gets a signal that may end it. */
  hurry?(): void;
  /** Prepares the last sample, within two seconds: the workload has ended. */
  settle?(): Promise<void>;
}
