/** The format of a kind of series: its columns in a packed window. */

import type { Series } from "@service/core";
import type { ColumnReader, ColumnWriter } from "./columns.ts";
import type { KnownIdentity } from "./dictionary.ts";

/** Identity and last update of a series of any kind. */
export type SeriesHead = Pick<Series, "name" | "tags" | "updated_ns">;

/** Format of a kind of series: how it is stored. */
export interface KindFormat<S extends Series> {
  readonly type: S["type"];
  /** A series whose values are not read yet. */
  blank(head: SeriesHead): S;
  /** Its columns, in the order in which a packed window has them. */
  readonly columns: readonly Column<S>[];
}

/** One field of all series of a kind, written and read in the same order. */
export interface Column<S extends Series> {
  write(out: ColumnWriter, series: S, frames: FrameIndexes): void;
  read(input: ColumnReader, series: S, known: KnownIdentity): void;
}

/** Indexes of frames by their names; those that the dictionary lacks come after its own. */
export interface FrameIndexes {
  indexOfFrame(name: string): number;
}
