/** The packed format of histograms. */

import type { HistogramSeries } from "../series/histogram.ts";
import { readBuckets, writeBuckets } from "./buckets.ts";
import type { KindFormat } from "./kind.ts";

/** The format of histograms: a column for each field, that of the buckets for those that have some. */
export const histogram: KindFormat<HistogramSeries> = {
  type: "histogram",
  blank: ({ name, tags }, updated_ns) => ({
    name,
    type: "histogram",
    tags,
    updated_ns,
    count: 0,
    sum: 0,
    min: null,
    max: null,
    buckets: null,
  }),
  columns: [{
    write: (out, { count }) => out.value(count),
    read(input, series) {
      series.count = input.times();
    },
  }, {
    write: (out, { sum }) => out.value(sum),
    read(input, series) {
      series.sum = input.sum();
    },
  }, {
    write: (out, { min }) => out.value(min),
    read(input, series) {
      series.min = input.nullableDouble();
    },
  }, {
    write: (out, { max }) => out.value(max),
    read(input, series) {
      series.max = input.nullableDouble();
    },
  }, {
    write: (out, { buckets }) => writeBuckets(out, buckets),
    read(input, series, { identity }) {
      const { count } = series;
      series.buckets = readBuckets(input, { kind: identity.buckets, count });
    },
  }],
};
