/** Long steps of the run from its file, where windows are ten times as long: a tenth of the work. */

import type { SpanWindow, SteppedSpan } from "@service/core/reader";
import type { Selection } from "@service/core/selection";
import { SECOND_NS } from "@service/core/time";
import type { WindowSource } from "../serve/windows.ts";
import { joinSteps } from "./joined_steps.ts";

/** Windows in the file end at multiples of this since the epoch. */
const KEPT_NS = 10n * SECOND_NS;

/**
 * The windows of `all`; steps of whole tens of seconds come from `kept`, and only what it does not have
 * yet from `all`. Everything does while the disk does not answer, and where the span begins within a
 * window of the file.
 */
export function preferKept(all: WindowSource, kept: WindowSource): WindowSource {
  return {
    read: (span, selection) => all.read(span, selection),
    steps(span: SteppedSpan, selection?: Selection): AsyncIterable<SpanWindow> {
      if (span.step_ns % KEPT_NS !== 0n) return all.steps(span, selection);
      return joinSteps(
        wholeSteps(kept.steps(span, selection), span),
        (end_ns = span.from_ns) => all.steps({ ...span, from_ns: end_ns }, selection),
        span.step_ns,
      );
    },
  };
}

/** The steps; none if the first has time before the span. */
async function* wholeSteps(
  steps: AsyncIterable<SpanWindow>,
  { from_ns }: SteppedSpan,
): AsyncGenerator<SpanWindow> {
  for await (const step of steps) {
    if (step.window.from_ns < from_ns) return;
    yield step;
  }
}
