/** The packed format of gauges. */

import type { GaugeSeries } from "../series/gauge.ts";
import type { KindFormat } from "./kind.ts";

/** The format of gauges: one column. */
export const gauge: KindFormat<GaugeSeries> = {
  type: "gauge",
  blank: ({ name, tags }, updated_ns) => ({ name, type: "gauge", tags, updated_ns, value: 0 }),
  columns: [{
    write: (out, { value }) => out.value(value),
    read(input, series) {
      series.value = input.quantity();
    },
  }],
};
