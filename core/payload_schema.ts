/** Payload schemas: checks and JSON Schemas of the interface (2.1 to 2.5) and of the problem document. */

import { payloadEntries } from "./entries.ts";
import { MAX_TAGS } from "./limits.ts";
import type { Instance, InstanceList, Metric, Problem, Signals } from "./payload.ts";
import { integer, list, nanoseconds, object, oneOf, type Shape, text, variants } from "./schema.ts";
import { kinds } from "./series/mod.ts";
import type { Tags } from "./tags.ts";
import { epochSeconds, name, tags, upToTags } from "./value_schema.ts";
import type { Resource } from "./window.ts";

/** Tags that the service adds to those of an instance: its id, the project's and the key's name. */
const ADDED_TAGS = 3;

const instanceTags = upToTags(MAX_TAGS + ADDED_TAGS);

/** One metric (2.2). */
export const metric: Shape<Metric> = variants<Metric>("type", {
  gauge: metricOf("gauge", kinds.gauge.statsShape),
  counter: metricOf("counter", kinds.counter.statsShape),
  histogram: metricOf("histogram", kinds.histogram.statsShape),
  profile: metricOf("profile", kinds.profile.statsShape),
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

/** One resource (2.4). */
export const resource: Shape<Resource> = object<Resource>({
  kind: name,
  tags,
  attributes: tags,
  first_seen_ts: epochSeconds,
  last_seen_ts: epochSeconds,
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
  ...payloadEntries,
  resources: list(resource),
}, ["profiler", "platform"]);

/** One instance (2.5). */
export const instance: Shape<Instance> = object<Instance>({
  instance_id: name,
  resource_id: name,
  tags: instanceTags,
  attributes: tags,
  first_seen_ts: epochSeconds,
  last_seen_ts: epochSeconds,
});

/** The list of instances. */
export const instanceList: Shape<InstanceList> = object<InstanceList>({
  instances: list(instance),
});

/** The problem document. */
export const problem: Shape<Problem> = object<Problem>({
  type: text(),
  title: text(),
  status: integer(400, 599),
  detail: text(),
  errors: list(
    object<{ parameter: string; message: string }>({ parameter: text(), message: text() }),
  ),
});
