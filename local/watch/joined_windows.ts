/** Windows of two sources as one: what is too old for the newer one is read from the older one. */

import { absorb, type SpanWindow, type SteppedSpan, type Window } from "@service/core";
import type { Interval } from "@service/core/gaps";
import type { Selection } from "@service/core/selection";
import type { WindowSource } from "../serve/windows.ts";

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

    async *steps(span: SteppedSpan, selection?: Selection): AsyncGenerator<SpanWindow> {
      const { step_ns } = span;
      const gap = newer.missingIn(span);
      let last: SpanWindow | undefined;
      if (gap) {
        for await (const step of older.steps({ ...gap, step_ns }, selection)) {
          if (last) yield last;
          last = step;
        }
      }
      let known_ns = gap && (last?.window.to_ns ?? gap.from_ns);
      const from_ns = gap?.to_ns ?? span.from_ns;
      for await (const step of newer.steps({ ...span, from_ns }, selection)) {
        if (known_ns !== undefined) {
          step.gaps.unshift(...missingBefore(step, { known_ns, step_ns }));
        }
        known_ns = undefined;
        if (last && isInOneStep(last.window, step.window, step_ns)) {
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

/** What is not known of a step before its first window, as what came before ends at `known_ns`. */
function missingBefore(
  { window, payload_ns }: SpanWindow,
  { known_ns, step_ns }: { known_ns: bigint; step_ns: bigint },
): Interval[] {
  const start_ns = (payload_ns - 1n) / step_ns * step_ns;
  const from_ns = known_ns > start_ns ? known_ns : start_ns;
  return from_ns < window.from_ns ? [{ from_ns, to_ns: window.from_ns }] : [];
}

function isInOneStep(a: Window, b: Window, step_ns: bigint): boolean {
  return (a.to_ns - 1n) / step_ns === (b.to_ns - 1n) / step_ns;
}

function isEmpty({ from_ns, to_ns }: Window): boolean {
  return from_ns === to_ns;
}
