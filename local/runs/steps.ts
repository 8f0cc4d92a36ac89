/** Steps: the windows of a run in a span, merged by the part of the span in which they end. */

import { absorbOwned, type Interval, type Selection, type Window } from "@service/core";
import { readWindow, type ScannedWindow } from "@service/core/packed";
import { metricMatcher, selectIn } from "@service/core/selection";

/** The steps of a span. */
export interface StepsOptions {
  span: Interval;
  /** End of the step for a window that ends in the span. */
  endOf(to_ns: bigint): bigint;
  selection: Selection;
}

/** The merge of the windows of each step, in order; steps without windows are left out. */
export async function* mergedSteps(
  windows: AsyncIterable<ScannedWindow>,
  { span: { from_ns, to_ns }, endOf, selection }: StepsOptions,
): AsyncGenerator<Window> {
  const wanted = metricMatcher(selection.metrics);
  let step: { window: Window; end_ns: bigint } | undefined;
  for await (const { frame, block: { table }, head } of windows) {
    if (head.to_ns <= from_ns || head.to_ns > to_ns) continue;
    const { window } = readWindow(frame, { table, wanted });
    const end_ns = endOf(head.to_ns);
    if (step?.end_ns === end_ns) absorbOwned(step.window, window);
    else {
      if (step) yield selected(step.window, selection);
      step = { window, end_ns };
    }
  }
  if (step) yield selected(step.window, selection);
}

function selected(window: Window, selection: Selection): Window {
  selectIn(window, selection);
  return window;
}
