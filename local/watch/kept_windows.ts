/** Long steps of the run from its file, where windows are ten times as long: a tenth of the work. */

import { absorb } from "@service/core";
import type { SpanWindow, SteppedSpan } from "@service/core/reader";
import type { Selection } from "@service/core/selection";
import { SECOND_NS } from "@service/core/time";
import type { WindowSource } from "../serve/windows.ts";

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
    async *steps(span: SteppedSpan, selection?: Selection): AsyncGenerator<SpanWindow> {
      const { step_ns } = span;
      if (step_ns % KEPT_NS !== 0n) {
        yield* all.steps(span, selection);
        return;
      }
      let last: SpanWindow | undefined;
      for await (const step of kept.steps(span, selection)) {
        if (last) yield last;
        else if (step.window.from_ns < span.from_ns) break;
        last = step;
      }
      const from_ns = last?.window.to_ns ?? span.from_ns;
      for await (const step of all.steps({ ...span, from_ns }, selection)) {
        if (last && stepOf(last, step_ns) === stepOf(step, step_ns)) {
          absorb(last.window, step.window);
          last = { ...step, window: last.window, gaps: [...last.gaps, ...step.gaps] };
          continue;
        }
        if (last) yield last;
        last = step;
      }
      if (last) yield last;
    },
  };
}

/** The number of the step in which a window ends. */
function stepOf({ window }: SpanWindow, step_ns: bigint): bigint {
  return (window.to_ns - 1n) / step_ns;
}
