/** Windows of two sources as one: what is too old for the newer one is read from the older one. */

import { absorb, type Window } from "@service/core";
import type { Interval } from "@service/core/gaps";
import type { Selection } from "@service/core/selection";
import type { SpanReading, WindowSource } from "../serve/windows.ts";

/** The windows of `newer`, and where its first gap is those of `older`. */
export function joinWindows(newer: WindowSource, older: WindowSource): WindowSource {
  return {
    async read(span: Interval, selection?: Selection): Promise<SpanReading> {
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
  };
}

function isEmpty({ from_ns, to_ns }: Window): boolean {
  return from_ns === to_ns;
}
