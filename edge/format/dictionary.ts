/** The dictionary of an instance: the identities that its windows have in common. */

import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { type Resource, resourceKey, type Series, seriesKey, type Tags } from "@service/core";
import { tagsKey } from "@service/core/tags";
import {
  type BucketKind,
  bucketKind,
  bucketKindKey,
  decodeBucketKind,
  encodeBucketKind,
  type EncodedBucketKind,
} from "./buckets.ts";

/** The identity of a series, and the kind of its buckets if it has any. */
export interface SeriesIdentity {
  name: string;
  type: Series["type"];
  tags: Tags;
  /** Absent without buckets. */
  buckets?: BucketKind;
}

/** A series of a dictionary. */
export interface KnownIdentity {
  identity: SeriesIdentity;
  /** Names of the frames of all profiles. */
  frames: readonly string[];
}

/** A resource without the time at which it was last seen. */
export type ResourceIdentity = Omit<Resource, "last_seen_ts">;

/** Identities that the windows of an instance have in common: a packed window holds only values. */
export interface Identities {
  series: SeriesIdentity[];
  /** Names of the frames of all profiles. */
  frames: string[];
  resources: ResourceIdentity[];
}

/** Identities, each with its index in its list. */
export class Dictionary {
  readonly identities: Identities;
  /** Key of each series, as a window has it. */
  readonly seriesKeys: string[];
  /** Key of each resource, as a window has it. */
  readonly resourceKeys: string[];
  /** Each series, with the frames that it may have. */
  readonly known: readonly KnownIdentity[];
  readonly #series = new Map<string, number>();
  readonly #frames = new Map<string, number>();
  readonly #resources = new Map<string, number>();

  /** Of lists of identities. */
  constructor(identities: Identities) {
    this.identities = identities;
    this.seriesKeys = identities.series.map(seriesKey);
    const { frames } = identities;
    this.known = identities.series.map((identity) => ({ identity, frames }));
    this.resourceKeys = identities.resources.map(resourceKey);
    identities.series.forEach(({ buckets }, i) => {
      this.#series.set(this.seriesKeys[i]! + bucketKindKey(buckets), i);
    });
    identities.frames.forEach((name, i) => this.#frames.set(name, i));
    identities.resources.forEach((one, i) => {
      this.#resources.set(fullKey(this.resourceKeys[i]!, one), i);
    });
  }

  /** Number of identities. */
  get size(): number {
    return this.#series.size + this.#frames.size + this.#resources.size;
  }

  /** Index of a series that a window has under `key`, if any. */
  indexOfSeries(key: string, series: Series): number | undefined {
    return this.#series.get(
      series.type === "histogram" ? key + bucketKindKey(bucketKind(series.buckets)) : key,
    );
  }

  /** Index of a frame, if any. */
  indexOfFrame(name: string): number | undefined {
    return this.#frames.get(name);
  }

  /** Index of a resource that a window has under `key`, if any. */
  indexOfResource(key: string, resource: Resource): number | undefined {
    return this.#resources.get(fullKey(key, resource));
  }

  /** The dictionary with further identities, which come after its own. */
  with(more: Identities): Dictionary {
    const { series, frames, resources } = this.identities;
    return new Dictionary({
      series: [...series, ...more.series],
      frames: [...frames, ...more.frames],
      resources: [...resources, ...more.resources],
    });
  }
}

/** The dictionary without identities. */
export const EMPTY_DICTIONARY: Dictionary = new Dictionary({
  series: [],
  frames: [],
  resources: [],
});

/** A key for each identity. */
export function identityKeys({ series, frames, resources }: Identities): string[] {
  return [
    ...series.map((one) => `series ${seriesKey(one)}${bucketKindKey(one.buckets)}`),
    ...frames.map((name) => `frame ${name}`),
    ...resources.map((one) => `resource ${fullKey(resourceKey(one), one)}`),
  ];
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

function fullKey(key: string, { attributes, first_seen_ts }: ResourceIdentity): string {
  return `${key} ${first_seen_ts} ${tagsKey(attributes)}`;
}

/** A dictionary as it is stored, named by the hash of its content. */
export interface StoredDictionary {
  hash: Uint8Array<ArrayBuffer>;
  body: Uint8Array<ArrayBuffer>;
}

/** JSON text of identities. */
export function encodeIdentities({ series, frames, resources }: Identities): string {
  const rows = series.map(({ name, type, tags, buckets }) => [
    name,
    type,
    tags,
    ...(buckets ? [encodeBucketKind(buckets)] : []),
  ]);
  return JSON.stringify({ series: rows, frames, resources });
}

/** Identities of JSON text. */
export function decodeIdentities(text: string): Identities {
  const { series, frames, resources } = JSON.parse(text);
  return {
    series: series.map((
      [name, type, tags, buckets]: [string, Series["type"], Tags, EncodedBucketKind?],
    ) => ({
      name,
      type,
      tags,
      ...(buckets && { buckets: decodeBucketKind(buckets) }),
    })),
    frames,
    resources,
  };
}

/** The dictionary as it is stored. */
export function packDictionary({ identities }: Dictionary): StoredDictionary {
  const text = new TextEncoder().encode(encodeIdentities(identities));
  return {
    hash: new Uint8Array(createHash("sha256").update(text).digest().subarray(0, 16)),
    body: new Uint8Array(deflateRawSync(text)),
  };
}

/** The dictionary that was stored. */
export function unpackDictionary(body: ArrayBuffer): Dictionary {
  return new Dictionary(decodeIdentities(new TextDecoder().decode(inflateRawSync(body))));
}
