/** The packed format of counters. */

import type { CounterSeries } from "../series/counter.ts";
import type { KindFormat } from "./kind.ts";

/** The format of counters: one column. */
export const counter: KindFormat<CounterSeries> = {
  type: "counter",
  blank: ({ name, tags }, updated_ns) => ({ name, type: "counter", tags, updated_ns, total: 0 }),
  columns: [{
    write: (out, { total }) => out.value(total),
    read(input, series) {
      series.total = input.increase();
    },
  }],
};
