/** A kind of series: what each of its files declares and offers. */

import { type Fields, nanoseconds, object, oneOf, type Optional, type Shape } from "../schema.ts";
import type { Tags } from "../tags.ts";
import { name, tags } from "../value_schema.ts";

/** What every series has: its identity, and when it last changed. */
export interface SeriesOf<Type extends string> {
  /** Metric name. */
  readonly name: string;
  /** Metric type, which tells the kinds of series apart. */
  readonly type: Type;
  /** Tags that identify the series beside name and type; they never change. */
  readonly tags: Tags;
  /** Last update, epoch nanoseconds. */
  updated_ns: bigint;
}

/** A series as an upload has it: without `updated_ns` where that is the end of the window. */
export type Uploaded<S extends SeriesOf<string>> = Omit<S, "updated_ns"> & { updated_ns?: bigint };

/** The fields of a series that are of its own kind. */
export type ValuesOf<S extends SeriesOf<string>> = Omit<S, keyof SeriesOf<string>>;

/** What can be done with a kind of series. */
export interface SeriesKind<S extends SeriesOf<string>, Stats> {
  /** Merges the later values of `theirs` into `ours`, which shares nothing with it afterwards. */
  absorb(ours: S, theirs: S): void;
  /** The same series; a change of either does not change the other. */
  copy(series: S): S;
  /** A series in an upload. */
  readonly shape: Shape<Uploaded<S>>;
  /** The values of a series as an upload has them. */
  body(series: S): { [Field in keyof ValuesOf<S>]: unknown };
  /** The values of a series as a payload has them; of a profile at most `top` frames. */
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
