/** Counters: sums of increases. */

import { object } from "../schema.ts";
import { addSums, type Quantity, quantity, type Sum } from "../sum.ts";
import { increase, value } from "../value_schema.ts";
import { type SeriesKind, type SeriesOf, uploaded } from "./kind.ts";

/** A counter's increase. */
export interface CounterSeries extends SeriesOf<"counter"> {
  /** The increase, exact, in the metric's own unit; never negative. */
  total: Sum;
}

/** Increase over the window. */
export interface CounterStats {
  /** The increase, in the metric's own unit. */
  total: Quantity;
}

/** The kind `counter`: increases add up. */
export const counter: SeriesKind<CounterSeries, CounterStats> = {
  absorb(ours, theirs) {
    ours.total = addSums(ours.total, theirs.total);
  },
  copy: (series) => ({ ...series }),
  shape: uploaded<CounterSeries>("counter", { total: increase }),
  body: ({ total }) => ({ total }),
  stats: ({ total }) => ({ total: quantity(total) }),
  statsShape: object<CounterStats>({ total: value }),
};
