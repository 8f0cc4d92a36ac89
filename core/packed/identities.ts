/** Identities: the parts of series, frames and resources that stay the same from window to window. */

import { decode, type DecodeOptions } from "../json.ts";
import { MAX_UPLOAD_PARTS, MAX_WINDOW_FRAMES } from "../limits.ts";
import { open } from "../open_schema.ts";
import { object, oneOf, type Shape } from "../schema.ts";
import { kinds, type Series, seriesKey } from "../series/mod.ts";
import { type Tags, tagsKey } from "../tags.ts";
import { epochSeconds, name, tags } from "../value_schema.ts";
import { type Resource, resourceKey } from "../window.ts";
import {
  type BucketKind,
  bucketKind,
  bucketKindKey,
  decodeBucketKind,
  encodeBucketKind,
} from "./buckets.ts";
import { asDamaged, DamagedError } from "./error.ts";

/** The identity of a series, and the kind of its buckets if it has any. */
export interface SeriesIdentity {
  /** Metric name. */
  readonly name: string;
  /** Metric type. */
  readonly type: Series["type"];
  /** Tags that identify the series beside name and type. */
  readonly tags: Tags;
  /** Absent without buckets. */
  readonly buckets?: BucketKind;
}

/** A resource without the time at which it was last seen. */
export type ResourceIdentity = Omit<Resource, "last_seen_ts">;

/** Lists of identities: a packed window names each by its index. */
export interface Identities {
  /** Series of all types. */
  readonly series: SeriesIdentity[];
  /** Names of the frames of all profiles. */
  readonly frames: string[];
  /** Hosts, processes and devices. */
  readonly resources: ResourceIdentity[];
}

/** Bounds of each JSON text in packed bytes. */
export const JSON_BOUNDS: DecodeOptions = { max_parts: MAX_UPLOAD_PARTS };

/** Lists without identities. */
export function noIdentities(): Identities {
  return { series: [], frames: [], resources: [] };
}

/** Number of identities in all lists. */
export function identityCount({ series, frames, resources }: Identities): number {
  return series.length + frames.length + resources.length;
}

/** The identity of a series. */
export function identityOf(series: Series): SeriesIdentity {
  const { name, type, tags } = series;
  const buckets = series.type === "histogram" ? bucketKind(series.buckets) : undefined;
  return { name, type, tags, ...(buckets && { buckets }) };
}

/** The identity of a resource. */
export function resourceIdentityOf({ last_seen_ts: _, ...identity }: Resource): ResourceIdentity {
  return identity;
}

/** A key for each identity of a list of series. */
export function seriesIdentityKey(key: string, buckets: BucketKind | undefined): string {
  return key + bucketKindKey(buckets);
}

/** A key for each identity of a list of resources. */
export function resourceIdentityKey(
  key: string,
  { attributes, first_seen_ts }: ResourceIdentity,
): string {
  return `${key} ${first_seen_ts} ${tagsKey(attributes)}`;
}

/** A key for each identity of all lists. */
export function identityKeys({ series, frames, resources }: Identities): string[] {
  return [
    ...series.map((one) => `series ${seriesIdentityKey(seriesKey(one), one.buckets)}`),
    ...frames.map((name) => `frame ${name}`),
    ...resources.map((one) => `resource ${resourceIdentityKey(resourceKey(one), one)}`),
  ];
}

/** Identities as a value for JSON. */
export function identitiesBody({ series, frames, resources }: Identities): object {
  const rows = series.map(({ name, type, tags, buckets }) => [
    name,
    type,
    tags,
    ...(buckets ? [encodeBucketKind(buckets)] : []),
  ]);
  return { series: rows, frames, resources };
}

/**
 * Identities of a value from JSON.
 *
 * @throws {DamagedError} If it is not that of identities.
 */
export function readIdentities(body: unknown): Identities {
  return asDamaged("identities", () => identities.check(body));
}

/**
 * Identities of JSON text.
 *
 * @throws {DamagedError} If it is not that of identities.
 */
export function decodeIdentities(text: string): Identities {
  return readIdentities(asDamaged("identities", () => decode(text, JSON_BOUNDS)));
}

const metricType = oneOf(...Object.keys(kinds) as Series["type"][]);

const resourceIdentity = open(object<ResourceIdentity>({
  kind: name,
  tags,
  attributes: tags,
  first_seen_ts: epochSeconds,
}));

const identities: Shape<Identities> = {
  schema: {},
  check(body) {
    if (typeof body !== "object" || body === null) throw new DamagedError("must be an object");
    const { series, frames, resources } = body as Record<string, unknown>;
    return {
      series: listOf(series).map(readSeries),
      frames: listOf(frames, MAX_WINDOW_FRAMES).map((frame) => name.check(frame)),
      resources: listOf(resources).map((resource) => resourceIdentity.check(resource)),
    };
  },
};

function listOf(value: unknown, max = Infinity): unknown[] {
  if (!Array.isArray(value)) throw new DamagedError("identities must be in arrays");
  if (value.length <= max) return value;
  throw new DamagedError(`a list must have at most ${max} identities: got ${value.length}`);
}

function readSeries(row: unknown): SeriesIdentity {
  const [givenName, givenType, givenTags, buckets] = listOf(row);
  const type = metricType.check(givenType);
  const identity = { name: name.check(givenName), type, tags: tags.check(givenTags) };
  if (buckets === undefined) return identity;
  if (type !== "histogram") throw new DamagedError(`a ${type} has no buckets`);
  return { ...identity, buckets: decodeBucketKind(buckets) };
}
