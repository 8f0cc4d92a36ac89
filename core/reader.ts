/**
 * The reader: what has been measured, of one instance or many, local or hosted. Everything that answers
 * reads through it.
 */

import type { Interval } from "./gaps.ts";
import type { Instance } from "./payload.ts";
import type { Selection } from "./selection.ts";
import type { Tags } from "./tags.ts";
import type { Window } from "./window.ts";

/** A source of windows. */
export interface SignalsReader {
  /**
   * One page of the instances that ran in the span, the newest first.
   *
   * @throws {RangeError} If the instance of `after` is not known; the hosted API refuses that with 400.
   */
  instances(
    selection: InstanceSelection,
    span: Interval,
    page: InstancePage,
  ): Promise<Instance[]>;

  /**
   * The merge of the windows of each instance that end in the span, in the order of `ids`. Windows of
   * different instances are never merged: the tags of their series do not tell them apart. Instances
   * that are not known are left out, and an id that is there twice counts once, where it is first.
   */
  windows(
    ids: readonly string[],
    span: Interval,
    selection: Selection,
  ): AsyncIterable<InstanceWindow>;

  /**
   * The windows of one instance in the span, merged into steps, in order; the `payload_ns` of a step is
   * its end. Each is the merge of whole windows or roll-ups. Where only coarser roll-ups are kept steps
   * are longer, as the span of the window says; steps without windows are left out.
   *
   * @throws {RangeError} If `step_ns` is 0 or less.
   */
  steps(id: string, span: SteppedSpan, selection: Selection): AsyncIterable<SpanWindow>;
}

/** A span in steps, which end at multiples of `step_ns` since the epoch, the last one at its end. */
export interface SteppedSpan extends Interval {
  /** Length of a step. */
  step_ns: bigint;
}

/** The instances to list. */
export interface InstanceSelection {
  /** Tags that an instance must have, all of them. */
  tags?: Tags;
}

/** A page of a list of instances. */
export interface InstancePage {
  /** Most instances of the page. */
  limit: number;
  /** `instance_id` of the last instance of the previous page. */
  after?: string;
}

/** What was measured of one instance. */
export interface InstanceWindow extends SpanWindow {
  /** The instance. */
  instance: Instance;
}

/** What was measured in a span. */
export interface SpanWindow {
  /** The merge of the windows that end in it; its own span is that from the first to the last of them. */
  window: Window;
  /** Snapshot instant: the end of the span, or an earlier one up to which all windows have arrived. */
  payload_ns: bigint;
  /** Parts of the span up to `payload_ns` of which nothing is known; the instance ran in them. */
  gaps: Interval[];
  /** Whether the last window of the run is in it; absent where the run goes on. */
  final?: boolean;
}

/**
 * Expects the length of a step to be more than 0.
 *
 * @throws {RangeError} If it is not.
 */
export function expectStep(step_ns: bigint): void {
  if (step_ns > 0n) return;
  throw new RangeError(`Cannot read steps: step_ns must be more than 0: got ${step_ns}`);
}

/** The error of a page after an instance that is not known. */
export function unknownAfter(after: string): RangeError {
  return new RangeError(
    `Cannot continue a list: after must be the id of a known instance: got ${
      JSON.stringify(after.slice(0, 40))
    }`,
  );
}
