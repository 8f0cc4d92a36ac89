/** The packed format of a kind of series: its columns. */

import type { Series } from "../series/mod.ts";
import type { ColumnReader } from "./column_reader.ts";
import type { ColumnWriter } from "./column_writer.ts";
import type { SeriesIdentity } from "./identities.ts";

/** The packed format of a kind of series. */
export interface KindFormat<S extends Series> {
  readonly type: S["type"];
  /** A series whose values are not read yet. */
  blank(identity: SeriesIdentity, updated_ns: bigint): S;
  /** Its columns, in the order in which a packed window has them. */
  readonly columns: readonly Column<S>[];
}

/** One field of all series of a kind, written and read in the same order. */
export interface Column<S extends Series> {
  write(out: ColumnWriter, series: S, frames: FrameIndexes): void;
  /** @throws {DamagedError} If the bytes are others than were written. */
  read(input: ColumnReader, series: S, context: ReadContext): void;
}

/** Indexes of frames by their names; those that the block lacks come after its own. */
export interface FrameIndexes {
  indexOfFrame(name: string): number;
}

/** What the columns of a series are read with; one value for all of them, one after the other. */
export interface ReadContext {
  identity: SeriesIdentity;
  frames: FrameNames;
}

/** The names of frames by index, and how many frames a profile and the window may still have. */
export interface FrameNames {
  readonly names: readonly string[];
  readonly max: number;
  room: number;
}
