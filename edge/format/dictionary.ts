import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import {
  type Buckets,
  type Resource,
  resourceKey,
  type Series,
  seriesKey,
  type Tags,
} from "@service/core";
import { tagsKey } from "@service/core/tags";

/** What identifies a series, and how its values lie where it is a histogram. */
export interface SeriesIdentity {
  name: string;
  type: Series["type"];
  tags: Tags;
  /** `"bins"`, the bounds of a foreign source, or absent where there are no buckets. */
  buckets?: "bins" | readonly number[];
}

/** A resource without the time at which it was last seen. */
export type ResourceIdentity = Omit<Resource, "last_seen_ts">;

/** What windows of one instance have in common: a packed window names it and holds only values. */
export interface Identities {
  series: SeriesIdentity[];
  /** Names of the frames of all profiles. */
  frames: string[];
  resources: ResourceIdentity[];
}

/** Identities with their places. */
export class Layout {
  /** The places are those in these lists. */
  readonly identities: Identities;
  /** Key of each series, as a window has it. */
  readonly seriesKeys: string[];
  /** Key of each resource, as a window has it. */
  readonly resourceKeys: string[];
  readonly #series = new Map<string, number>();
  readonly #frames = new Map<string, number>();
  readonly #resources = new Map<string, number>();

  /** With the places that the identities have in their lists. */
  constructor(identities: Identities) {
    this.identities = identities;
    this.seriesKeys = identities.series.map(seriesKey);
    this.resourceKeys = identities.resources.map(resourceKey);
    identities.series.forEach(({ buckets }, i) => {
      this.#series.set(this.seriesKeys[i]! + bucketsKey(buckets), i);
    });
    identities.frames.forEach((name, i) => this.#frames.set(name, i));
    identities.resources.forEach((one, i) => {
      this.#resources.set(fullKey(this.resourceKeys[i]!, one), i);
    });
  }

  /** How many identities there are. */
  get size(): number {
    return this.#series.size + this.#frames.size + this.#resources.size;
  }

  /** Place of a series that a window has under `key`, if any. */
  placeOfSeries(key: string, series: Series): number | undefined {
    return this.#series.get(series.type === "histogram" ? key + bucketsKey(kindOf(series)) : key);
  }

  /** Place of a frame, if any. */
  placeOfFrame(name: string): number | undefined {
    return this.#frames.get(name);
  }

  /** Place of a resource that a window has under `key`, if any. */
  placeOfResource(key: string, resource: Resource): number | undefined {
    return this.#resources.get(fullKey(key, resource));
  }

  /** The layout with further identities, which come after its own. */
  with(more: Identities): Layout {
    const { series, frames, resources } = this.identities;
    return new Layout({
      series: [...series, ...more.series],
      frames: [...frames, ...more.frames],
      resources: [...resources, ...more.resources],
    });
  }
}

/** The layout that has nothing. */
export const NO_LAYOUT: Layout = new Layout({ series: [], frames: [], resources: [] });

/** A key for each identity. */
export function identityKeys({ series, frames, resources }: Identities): string[] {
  return [
    ...series.map((one) => `series ${seriesKey(one)}${bucketsKey(one.buckets)}`),
    ...frames.map((name) => `frame ${name}`),
    ...resources.map((one) => `resource ${fullKey(resourceKey(one), one)}`),
  ];
}

/** The identity of a series. */
export function identityOf(series: Series): SeriesIdentity {
  const { name, type, tags } = series;
  const buckets = kindOf(series);
  return { name, type, tags, ...(buckets && { buckets }) };
}

/** The identity of a resource. */
export function resourceIdentityOf({ last_seen_ts: _, ...identity }: Resource): ResourceIdentity {
  return identity;
}

function kindOf(series: Series): SeriesIdentity["buckets"] {
  return series.type === "histogram" && series.buckets ? kindOfBuckets(series.buckets) : undefined;
}

function kindOfBuckets(buckets: Buckets): "bins" | readonly number[] {
  return "bounds" in buckets ? buckets.bounds : "bins";
}

function bucketsKey(buckets: SeriesIdentity["buckets"]): string {
  if (!buckets) return "";
  return buckets === "bins" ? " bins" : ` ${buckets.map(written).join(" ")}`;
}

function fullKey(key: string, { attributes, first_seen_ts }: ResourceIdentity): string {
  return `${key} ${first_seen_ts} ${tagsKey(attributes)}`;
}

/** JSON knows one zero. */
function written(bound: number): number | string {
  return Object.is(bound, -0) ? "-0" : bound;
}

/** A layout as it is stored, under the name that its content gives it. */
export interface StoredLayout {
  hash: Uint8Array<ArrayBuffer>;
  body: Uint8Array<ArrayBuffer>;
}

/** JSON text of identities. */
export function encodeIdentities({ series, frames, resources }: Identities): string {
  const rows = series.map(({ name, type, tags, buckets }) => [
    name,
    type,
    tags,
    ...(buckets ? [buckets === "bins" ? buckets : buckets.map(written)] : []),
  ]);
  return JSON.stringify({ series: rows, frames, resources });
}

/** Identities of JSON text. */
export function decodeIdentities(text: string): Identities {
  const { series, frames, resources } = JSON.parse(text);
  return {
    series: series.map((
      [name, type, tags, buckets]: [string, Series["type"], Tags, ("bins" | (number | string)[])?],
    ) => ({
      name,
      type,
      tags,
      ...(buckets && { buckets: buckets === "bins" ? buckets : buckets.map(Number) }),
    })),
    frames,
    resources,
  };
}

/** The layout as it is stored. */
export function packLayout({ identities }: Layout): StoredLayout {
  const text = new TextEncoder().encode(encodeIdentities(identities));
  return {
    hash: new Uint8Array(createHash("sha256").update(text).digest().subarray(0, 16)),
    body: new Uint8Array(deflateRawSync(text)),
  };
}

/** The layout that is stored so. */
export function unpackLayout(body: ArrayBuffer): Layout {
  return new Layout(decodeIdentities(new TextDecoder().decode(inflateRawSync(body))));
}
