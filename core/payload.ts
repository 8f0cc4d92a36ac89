/** Payload types: the signals interface, sections 2.1 to 2.5, and the problem document. */

import type { Entries } from "./entries.ts";
import type { CounterStats, GaugeStats, HistogramStats, ProfileStats } from "./series/mod.ts";
import type { Tags } from "./tags.ts";
import type { Resource } from "./window.ts";

/** The fields of a metric of any type. */
export interface MetricOf<Type extends string, Stats> {
  /** Metric name: snake_case, its unit last. */
  name: string;
  /** Metric type, which decides the fields of `stats`. */
  type: Type;
  /** Tags that identify the series, such as `process.pid`. */
  tags: Tags;
  /** Values over the window. */
  stats: Stats;
  /** Last update, epoch nanoseconds. */
  updated_ns: bigint;
}

/** One measured series (2.2); `type` decides which. */
export type Metric =
  | MetricOf<"gauge", GaugeStats>
  | MetricOf<"counter", CounterStats>
  | MetricOf<"histogram", HistogramStats>
  | MetricOf<"profile", ProfileStats>;

/** The answer of both `/signals` endpoints (2.1). */
export interface Signals extends Entries {
  /** The profiler that answers; local only. */
  profiler?: { version: string };
  /** The service that answers; hosted only. */
  platform?: { version: string };
  /** Snapshot instant, epoch nanoseconds. */
  payload_ns: bigint;
  /** Start of every cumulative value, epoch nanoseconds. */
  start_ns: bigint;
  /** Tags of the instance. */
  context: Tags;
  /** Every series with data, by name and tags. */
  metrics: Metric[];
  /** Hosts, processes and devices, by kind and tags. */
  resources: Resource[];
}

/** One run of the profiler that has reported (2.5). */
export interface Instance {
  /** Equals the tag `instance.id`. */
  instance_id: string;
  /** Identifier of the instance's resource. */
  resource_id: string;
  /** Tags of the run, such as `host.name`. */
  tags: Tags;
  /** Attributes of the run, such as `process.command_line`. */
  attributes: Tags;
  /** Epoch seconds. */
  first_seen_ts: number;
  /** Epoch seconds. */
  last_seen_ts: number;
}

/** Answer of `GET /api/v1/instances`. */
export interface InstanceList {
  /** Instances that reported in the requested span. */
  instances: Instance[];
}

/** Body of every refusal (RFC 9457, `application/problem+json`). */
export interface Problem {
  /** Kind of problem: a URI, or `about:blank` if the status is enough. */
  type: string;
  /** The kind in a few words. */
  title: string;
  /** HTTP status. */
  status: number;
  /** The cause, and how to correct the request. */
  detail: string;
  /** The parameters or body paths at fault. */
  errors: { parameter: string; message: string }[];
}
