/** Windows of two sources as one: what is too old for the newer one is read from the older one. */

import { absorb, type SpanWindow, type SteppedSpan, type Window } from "@service/core";
import type { Interval } from "@service/core/gaps";
import type { Selection } from "@service/core/selection";
import type { WindowSource } from "../serve/windows.ts";
import { joinSteps } from "./joined_steps.ts";

/** A source that has lost its oldest windows. */
export interface NewerWindows extends WindowSource {
  /** The part of a span that is too old for it. */
  missingIn(span: Interval): Interval | undefined;
}

/** The windows of `newer`, and where its first gap is those of `older`. */
export function joinWindows(newer: NewerWindows, older: WindowSource): WindowSource {
  return {
    async read(span: Interval, selection?: Selection): Promise<SpanWindow> {
      const late = await newer.read(span, selection);
      const [gap] = late.gaps;
      if (!gap) return late;
      const early = await older.read(gap, selection);
      if (isEmpty(late.window)) return early;
      const missing = { from_ns: early.payload_ns, to_ns: gap.to_ns };
      const gaps = [...early.gaps, ...missing.from_ns < missing.to_ns ? [missing] : []];
      if (isEmpty(early.window)) return { ...late, gaps };
      absorb(early.window, late.window);
      return { window: early.window, payload_ns: late.payload_ns, gaps };
    },

    steps(span: SteppedSpan, selection?: Selection): AsyncIterable<SpanWindow> {
      const { step_ns } = span;
      const gap = newer.missingIn(span);
      if (!gap) return newer.steps(span, selection);
      const early = older.steps({ ...gap, step_ns }, selection);
      return joinSteps(early, (end_ns) => stepsAfter(gap, end_ns ?? gap.from_ns), step_ns);

      /** The steps of the newer source, the first of which lacks what is not known before it. */
      async function* stepsAfter({ to_ns }: Interval, end_ns: bigint) {
        let known_ns: bigint | undefined = end_ns;
        for await (const step of newer.steps({ ...span, from_ns: to_ns }, selection)) {
          if (known_ns !== undefined) {
            step.gaps.unshift(...missingBefore(step, { known_ns, step_ns }));
          }
          known_ns = undefined;
          yield step;
        }
      }
    },
  };
}

/** What is not known of a step before its first window, as what came before ends at `known_ns`. */
function missingBefore(
  { window, payload_ns }: SpanWindow,
  { known_ns, step_ns }: { known_ns: bigint; step_ns: bigint },
): Interval[] {
  const start_ns = (payload_ns - 1n) / step_ns * step_ns;
  const from_ns = known_ns > start_ns ? known_ns : start_ns;
  return from_ns < window.from_ns ? [{ from_ns, to_ns: window.from_ns }] : [];
}

function isEmpty({ from_ns, to_ns }: Window): boolean {
  return from_ns === to_ns;
}
