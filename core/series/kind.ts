/** Kinds of series: the fields that all series have, and the operations of a kind. */

import { type Fields, nanoseconds, object, oneOf, type Optional, type Shape } from "../schema.ts";
import type { Tags } from "../tags.ts";
import { name, tags } from "../value_schema.ts";

/** Fields of every series: its identity, and its last update. */
export interface SeriesOf<Type extends string> {
  /** Metric name. */
  readonly name: string;
  /** Metric type: the kind of the series. */
  readonly type: Type;
  /** Tags that identify the series beside name and type; they never change. */
  readonly tags: Tags;
  /** Last update, epoch nanoseconds. */
  updated_ns: bigint;
}

/** A series in the form of an upload: without `updated_ns` if that is the end of the window. */
export type Uploaded<S extends SeriesOf<string>> = Omit<S, "updated_ns"> & { updated_ns?: bigint };

/** The fields of a series that only its kind has. */
export type ValuesOf<S extends SeriesOf<string>> = Omit<S, keyof SeriesOf<string>>;

/** Operations of a kind of series. */
export interface SeriesKind<S extends SeriesOf<string>, Stats> {
  /** Merges the later values of `theirs` into `ours`, which shares nothing with it afterwards. */
  absorb(ours: S, theirs: S): void;
  /** The same series; a change of either does not change the other. */
  copy(series: S): S;
  /** A series in an upload. */
  readonly shape: Shape<Uploaded<S>>;
  /** The values of a series in the form of an upload. */
  body(series: S): { [Field in keyof ValuesOf<S>]: unknown };
  /** The values of a series in the form of a payload; of a profile the `top` frames, and the rest as one. */
  stats(series: S, top?: number): Stats;
  /** Stats in a payload. */
  readonly statsShape: Shape<Stats>;
}

/** A series of `type` in an upload, with these values. */
export function uploaded<S extends SeriesOf<string>>(
  type: S["type"],
  values: Fields<ValuesOf<S>>,
): Shape<Uploaded<S>> {
  const fields = { name, tags, updated_ns: nanoseconds, type: oneOf(type), ...values };
  const optional = ["updated_ns"] as unknown as Optional<Uploaded<S>>[];
  return object(fields as unknown as Fields<Uploaded<S>>, optional);
}
