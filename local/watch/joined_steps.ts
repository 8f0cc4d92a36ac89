/** Steps of two sources, one after the other: a step in which one ends and the other begins is one. */

import { absorb, type SpanWindow } from "@service/core";

/**
 * The steps of `early`, and after them those of `late`, which is told where the last of `early` ends;
 * nothing if there was none.
 */
export async function* joinSteps(
  early: AsyncIterable<SpanWindow>,
  late: (end_ns: bigint | undefined) => AsyncIterable<SpanWindow>,
  step_ns: bigint,
): AsyncGenerator<SpanWindow> {
  let last: SpanWindow | undefined;
  for await (const step of early) {
    if (last) yield last;
    last = step;
  }
  for await (const step of late(last?.window.to_ns)) {
    if (last && stepOf(last, step_ns) === stepOf(step, step_ns)) {
      absorb(last.window, step.window);
      last = { ...step, window: last.window, gaps: [...last.gaps, ...step.gaps] };
      continue;
    }
    if (last) yield last;
    last = step;
  }
  if (last) yield last;
}

/** The number of the step in which a window ends. */
function stepOf({ window }: SpanWindow, step_ns: bigint): bigint {
  return (window.to_ns - 1n) / step_ns;
}
