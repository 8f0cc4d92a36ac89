/**
 * The algebra of signals: payloads and their checks, exact JSON, windows that merge. The profiler and
 * the hosted API share it, and scripts read payloads with it. It needs no clock, platform or package.
 *
 * This is its front door; everything else is imported by the name of its file, such as
 * `@service/core/time`.
 *
 * @example Read a payload and list its kernels
 * ```ts
 * import { decode, signals } from "@service/core";
 *
 * const text = '{"payload_ns":1790000000000000001,"start_ns":1790000000000000000,' +
 *   '"context":{},"metrics":[],"errors":[],"resources":[]}';
 * const payload = signals.check(decode(text));
 * for (const metric of payload.metrics) {
 *   if (metric.type === "profile") console.log(metric.name, metric.stats.frames[0]);
 * }
 * ```
 *
 * @module
 */

export { binIndex, type Bins, count } from "./bins.ts";
export type { Bounds } from "./bounds.ts";
export { catalogue, type CatalogueEntry, describe } from "./catalogue/mod.ts";
export type { Entries, ErrorEntry } from "./entries.ts";
export { decode, type DecodeOptions, encode } from "./json.ts";
export type { Instance, InstanceList, Metric, MetricOf, Signals } from "./payload.ts";
export { instanceList, signals } from "./payload_schema.ts";
export type { Interval } from "./gaps.ts";
export type { Ignored } from "./ignored.ts";
export type {
  InstancePage,
  InstanceSelection,
  InstanceWindow,
  SignalsReader,
  SpanWindow,
  SteppedSpan,
} from "./reader.ts";
export type { JsonSchema, Shape } from "./schema.ts";
export { ShapeError } from "./schema_error.ts";
export type { Selection } from "./selection.ts";
export {
  type Buckets,
  type CounterSeries,
  type CounterStats,
  type Frame,
  type FrameSum,
  type GaugeSeries,
  type GaugeStats,
  type HistogramSeries,
  type HistogramStats,
  type ProfileSeries,
  type ProfileStats,
  type Series,
  seriesKey,
  type SeriesOf,
} from "./series/mod.ts";
export { snapshot, type SnapshotOptions } from "./snapshot.ts";
export type { Quantity, Sum } from "./sum.ts";
export { formatTags, parseTags, type Tags } from "./tags.ts";
export { tsFromNs } from "./time.ts";
export { encodeUpload, type Upload } from "./upload.ts";
export {
  absorb,
  absorbOwned,
  emptyWindow,
  merge,
  mergeAll,
  type Resource,
  resourceKey,
  type Window,
} from "./window.ts";
