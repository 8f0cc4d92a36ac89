/** The shapes of the interface (2.1 to 2.5) and of its refusals: checks and JSON Schemas. */

import {
  MAX_ERROR_LENGTH,
  MAX_MAGNITUDE,
  MAX_NAME_LENGTH,
  MAX_TAGS,
  MAX_VALUE_LENGTH,
} from "./limits.ts";
import type {
  CounterStats,
  Frame,
  GaugeStats,
  HistogramStats,
  Instance,
  InstanceList,
  Metric,
  Problem,
  ProfileStats,
  Signals,
} from "./payload.ts";
import {
  list,
  nanoseconds,
  nullable,
  number,
  object,
  oneOf,
  quantityUpTo,
  type Shape,
  tagsOf,
  text,
  variants,
  whole,
} from "./schema.ts";
import type { Quantity } from "./sum.ts";
import { LAST_NS, tsFromNs } from "./time.ts";
import type { Tags } from "./tags.ts";
import type { ErrorEntry, Resource } from "./window.ts";

/** A metric's, frame's or kind's name. */
export const name: Shape<string> = text({ min: 1, max: MAX_NAME_LENGTH });

/** Tags, and attributes. */
export const tags: Shape<Tags> = tagsOf(name, text({ max: MAX_VALUE_LENGTH }), MAX_TAGS);

/** Tags that the service adds to those of an instance: its id, the project's and the key's name. */
const ADDED_TAGS = 3;

const instanceTags = tagsOf(name, text({ max: MAX_VALUE_LENGTH }), MAX_TAGS + ADDED_TAGS);

/** A value of a gauge, counter, histogram or frame. */
export const value: Shape<Quantity> = quantityUpTo(MAX_MAGNITUDE);

/** A number that stands for measured values: a bound, an extreme, a mean, a quantile. */
export const double: Shape<number> = number(-MAX_MAGNITUDE, MAX_MAGNITUDE);

const seconds = whole(0, tsFromNs(LAST_NS));

const gaugeStats = object<GaugeStats>({ value });
const counterStats = object<CounterStats>({ total: value });
const histogramStats = object<HistogramStats>({
  count: whole(0),
  sum: value,
  min: nullable(double),
  max: nullable(double),
  mean: double,
  p50: nullable(double),
  p95: nullable(double),
});
const profileStats = object<ProfileStats>({
  frames: list(object<Frame>({ name, value, samples: whole(0) })),
});

/** One metric (2.2). */
export const metric: Shape<Metric> = variants<Metric>("type", {
  gauge: metricOf("gauge", gaugeStats),
  counter: metricOf("counter", counterStats),
  histogram: metricOf("histogram", histogramStats),
  profile: metricOf("profile", profileStats),
});

function metricOf<Type extends string, Stats>(type: Type, stats: Shape<Stats>) {
  return object<{ name: string; type: Type; tags: Tags; stats: Stats; updated_ns: bigint }>({
    name,
    type: oneOf(type),
    tags,
    stats: stats as Shape<Exclude<Stats, undefined>>,
    updated_ns: nanoseconds,
  });
}

/** One warning or error (2.3). */
export const errorEntry: Shape<ErrorEntry> = object<ErrorEntry>({
  level: oneOf("warning", "error"),
  message: text({ max: MAX_ERROR_LENGTH }),
  exception: text({ max: MAX_ERROR_LENGTH }),
  log_ns: nanoseconds,
  tags,
}, ["tags"]);

/** One resource (2.4). */
export const resource: Shape<Resource> = object<Resource>({
  kind: name,
  tags,
  attributes: tags,
  first_seen_ts: seconds,
  last_seen_ts: seconds,
});

const software = object<{ version: string }>({ version: text({ min: 1 }) });

/** The signals payload (2.1). */
export const signals: Shape<Signals> = object<Signals>({
  profiler: software,
  platform: software,
  payload_ns: nanoseconds,
  start_ns: nanoseconds,
  context: instanceTags,
  metrics: list(metric),
  errors: list(errorEntry),
  resources: list(resource),
}, ["profiler", "platform"]);

/** One instance (2.5). */
export const instance: Shape<Instance> = object<Instance>({
  instance_id: name,
  resource_id: name,
  tags: instanceTags,
  attributes: tags,
  first_seen_ts: seconds,
  last_seen_ts: seconds,
});

/** The list of instances. */
export const instanceList: Shape<InstanceList> = object<InstanceList>({
  instances: list(instance),
});

/** The problem document. */
export const problem: Shape<Problem> = object<Problem>({
  type: text(),
  title: text(),
  status: whole(400, 599),
  detail: text(),
  errors: list(
    object<{ parameter: string; message: string }>({ parameter: text(), message: text() }),
  ),
});
