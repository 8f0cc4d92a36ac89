/** Gauges: the newest of sampled values. */

import { object } from "../schema.ts";
import type { Quantity } from "../sum.ts";
import { value } from "../value_schema.ts";
import { type SeriesKind, type SeriesOf, uploaded } from "./kind.ts";

/** A gauge's newest value. */
export interface GaugeSeries extends SeriesOf<"gauge"> {
  /** The value, in the metric's own unit. */
  value: Quantity;
}

/** Newest sampled value in the window. */
export interface GaugeStats {
  /** The value, in the metric's own unit; 0 is measured zero. */
  value: Quantity;
}

/** The kind `gauge`: the later value replaces the earlier. */
export const gauge: SeriesKind<GaugeSeries, GaugeStats> = {
  absorb(ours, theirs) {
    ours.value = theirs.value;
  },
  copy: (series) => ({ ...series }),
  shape: uploaded<GaugeSeries>("gauge", { value }),
  body: ({ value }) => ({ value }),
  stats: ({ value }) => ({ value }),
  statsShape: object<GaugeStats>({ value }),
};
