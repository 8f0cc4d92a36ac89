/** The format of histograms. */

import type { HistogramSeries } from "@service/core";
import { readDouble, readSum } from "./_values.ts";
import { readBucketColumn, readBuckets, writeBucketColumn } from "./buckets.ts";
import type { KindFormat } from "./kind.ts";

/** The format of histograms: a column for each field, that of the buckets for those that have some. */
export const histogram: KindFormat<HistogramSeries> = {
  type: "histogram",
  blank: ({ name, tags, updated_ns }) => ({
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
      series.count = input.value();
    },
  }, {
    write: (out, { sum }) => out.value(sum),
    read(input, series) {
      series.sum = input.value();
    },
  }, {
    write: (out, { min }) => out.value(min),
    read(input, series) {
      series.min = input.value();
    },
  }, {
    write: (out, { max }) => out.value(max),
    read(input, series) {
      series.max = input.value();
    },
  }, {
    write: (out, { buckets }) => writeBucketColumn(out, buckets),
    read(input, series, { identity }) {
      series.buckets = readBucketColumn(input, identity.buckets);
    },
  }],
  read(reader, { name, tags, updated_ns }) {
    reader.expect('"count":');
    const count = reader.natural();
    reader.expect(',"sum":');
    const sum = readSum(reader);
    reader.expect(',"min":');
    const min = reader.skipIf("null") ? null : readDouble(reader);
    reader.expect(',"max":');
    const max = reader.skipIf("null") ? null : readDouble(reader);
    reader.expect(',"buckets":');
    const buckets = reader.skipIf("null") ? null : readBuckets(reader, count);
    return { name, type: "histogram", tags, updated_ns, count, sum, min, max, buckets };
  },
};
