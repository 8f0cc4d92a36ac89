/** The identity table: identities by index for the reader of windows, and by key for the writer. */

import { type Series, seriesKey } from "../series/mod.ts";
import { type Resource, resourceKey } from "../window.ts";
import { bucketKind } from "./buckets.ts";
import { DamagedError } from "./error.ts";
import {
  type Identities,
  identityCount,
  resourceIdentityKey,
  seriesIdentityKey,
} from "./identities.ts";

/** Indexes by key, made when a writer needs them. */
interface Indexes {
  series: Map<string, number>;
  frames: Map<string, number>;
  resources: Map<string, number>;
}

/** Identities, each with its index in its list. */
export class IdentityTable {
  /** The lists. */
  readonly identities: Identities;
  /** Key of each series, as a window has it. */
  readonly seriesKeys: readonly string[];
  /** Key of each resource, as a window has it. */
  readonly resourceKeys: readonly string[];
  #indexes: Indexes | undefined;

  /** Of lists of identities; their keys, if they are known. */
  constructor(
    identities: Identities,
    seriesKeys: readonly string[] = identities.series.map(seriesKey),
    resourceKeys: readonly string[] = identities.resources.map(resourceKey),
  ) {
    this.identities = identities;
    this.seriesKeys = seriesKeys;
    this.resourceKeys = resourceKeys;
  }

  /** Number of identities. */
  get size(): number {
    return identityCount(this.identities);
  }

  /** Index of a series that a window has under `key`, if any. */
  indexOfSeries(key: string, series: Series): number | undefined {
    const { series: indexes } = this.#byKey();
    if (series.type !== "histogram") return indexes.get(key);
    return indexes.get(seriesIdentityKey(key, bucketKind(series.buckets)));
  }

  /** Whether the series at an index is that which a window has under `key`: cheaper than a look-up. */
  isSeriesAt(index: number, key: string, series: Series): boolean {
    if (this.seriesKeys[index] !== key) return false;
    if (series.type !== "histogram") return true;
    return bucketKind(series.buckets) === this.identities.series[index]!.buckets;
  }

  /** Index of a frame, if any. */
  indexOfFrame(name: string): number | undefined {
    return this.#byKey().frames.get(name);
  }

  /** Index of a resource that a window has under `key`, if any. */
  indexOfResource(key: string, resource: Resource): number | undefined {
    return this.#byKey().resources.get(resourceIdentityKey(key, resource));
  }

  /** The table with further identities, which come after its own. */
  with(more: Identities): IdentityTable {
    if (identityCount(more) === 0) return this;
    const { series, frames, resources } = this.identities;
    const identities = {
      series: [...series, ...more.series],
      frames: [...frames, ...more.frames],
      resources: [...resources, ...more.resources],
    };
    return new IdentityTable(
      identities,
      [...this.seriesKeys, ...more.series.map(seriesKey)],
      [...this.resourceKeys, ...more.resources.map(resourceKey)],
    );
  }

  /**
   * Checks that no identity is in a list twice.
   *
   * @throws {DamagedError} If one is.
   */
  expectUnique(): void {
    const { series, frames, resources } = this.#byKey();
    if (series.size + frames.size + resources.size === this.size) return;
    throw new DamagedError("an identity must not be in a list twice");
  }

  #byKey(): Indexes {
    if (this.#indexes) return this.#indexes;
    const { series, frames, resources } = this.identities;
    return this.#indexes = {
      series: new Map(
        series.map(({ buckets }, i) => [seriesIdentityKey(this.seriesKeys[i]!, buckets), i]),
      ),
      frames: new Map(frames.map((name, i) => [name, i])),
      resources: new Map(
        resources.map((one, i) => [resourceIdentityKey(this.resourceKeys[i]!, one), i]),
      ),
    };
  }
}
