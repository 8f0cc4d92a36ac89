/** The writer of packed windows: the frame of a window by a table of identities. */

import { entriesOf } from "../entries.ts";
import { encode } from "../json.ts";
import type { Series } from "../series/mod.ts";
import { tsFromNs } from "../time.ts";
import type { Resource, Window } from "../window.ts";
import { HASH_BYTES } from "./block.ts";
import { Bytes } from "./bytes.ts";
import { ColumnWriter } from "./column_writer.ts";
import { type Frame, HEADER_BYTES, sealed } from "./frame.ts";
import {
  type Identities,
  identitiesBody,
  identityCount,
  identityOf,
  noIdentities,
  resourceIdentityOf,
} from "./identities.ts";
import type { IdentityTable } from "./identity_table.ts";
import type { FrameIndexes } from "./kind.ts";
import { KINDS } from "./kinds.ts";
import { sortedByIndex } from "./order.ts";
import { FINAL, FIXED_BYTES, type Members, type WindowHead } from "./window.ts";

/** A window to be written. */
export interface WindowToWrite {
  /** The window. */
  window: Window;
  /** Name and table of the block. */
  block: { readonly hash: string; readonly table: IdentityTable };
  /** Whether it is the last window of its instance. */
  final?: boolean;
  /** Members beside the lists of entries. */
  members?: Members;
}

/** A window that was written. */
export interface WrittenWindow {
  /** The frame of the window. */
  frame: Frame;
  /** The identities that the block lacks: they are in the window itself. */
  missing: Identities;
}

/** Writes windows; its buffers are used for one after the other. */
export class WindowWriter {
  readonly #texts = new Bytes();
  readonly #columns = new ColumnWriter();

  /**
   * The frame of a window.
   *
   * @throws {RangeError} If it is too large for one.
   */
  write({ window, block, final = false, members = {} }: WindowToWrite): WrittenWindow {
    const columns = this.#columns;
    columns.clear();
    const missing = writeColumns(columns, window, block.table);
    const texts = this.#texts;
    texts.length = 0;
    texts.text(identityCount(missing) > 0 ? encode(identitiesBody(missing)) : "");
    texts.text(membersText({ ...filled(window), ...members }));
    const bytes = columns.bytes(texts.written(), HEADER_BYTES + FIXED_BYTES);
    writeHead(bytes, { ...window, block: block.hash, final });
    return { frame: sealed("window", bytes), missing };
  }

  /** The identities of a window that a table lacks. */
  missing(window: Window, table: IdentityTable): Identities {
    this.#columns.clear();
    return writeColumns(this.#columns, window, table);
  }
}

function writeHead(bytes: Uint8Array<ArrayBuffer>, { block, from_ns, to_ns, final }: WindowHead) {
  const view = new DataView(bytes.buffer, HEADER_BYTES);
  bytes.set(Uint8Array.fromHex(block), HEADER_BYTES);
  view.setBigUint64(HASH_BYTES, from_ns, true);
  view.setBigUint64(HASH_BYTES + 8, to_ns, true);
  view.setUint8(FIXED_BYTES - 1, final ? FINAL : 0);
}

/** The lists that have entries. */
function filled(window: Window): Members {
  return Object.fromEntries(
    Object.entries(entriesOf(window)).filter(([, entries]) => entries.length > 0),
  );
}

function membersText(members: Members): string {
  return Object.keys(members).length > 0 ? encode(members) : "";
}

/** Writes the columns; returns the identities that the table lacks, numbered after its own. */
function writeColumns(
  out: ColumnWriter,
  { series, resources, to_ns }: Window,
  table: IdentityTable,
): Identities {
  const indexes = new WindowIndexes(table);
  const items = writeIndexes(out, series, (key, entry) => indexes.indexOfSeries(key, entry));
  for (const { updated_ns } of items) out.value(updated_ns === to_ns ? 0 : to_ns - updated_ns);
  for (const { type, columns } of KINDS) {
    const ofKind = items.filter((entry) => entry.type === type);
    for (const column of columns) for (const entry of ofKind) column.write(out, entry, indexes);
  }
  const seen = writeIndexes(out, resources, (key, entry) => indexes.indexOfResource(key, entry));
  for (const { last_seen_ts } of seen) out.value(tsFromNs(to_ns) - last_seen_ts);
  return indexes.missing;
}

/** Writes the indexes of all items, ascending; gives the items in this order. */
function writeIndexes<T>(
  out: ColumnWriter,
  all: Map<string, T>,
  indexOf: (key: string, item: T) => number,
): T[] {
  const indexes: number[] = [];
  all.forEach((item, key) => indexes.push(indexOf(key, item)));
  const [sorted, items] = sortedByIndex(indexes, [...all.values()]);
  out.ascending(sorted);
  return items;
}

/**
 * Indexes in a table; those of missing identities come after its own. Mostly the next identity of a
 * window is the next one of the table.
 */
class WindowIndexes implements FrameIndexes {
  readonly missing: Identities = noIdentities();
  readonly #table: IdentityTable;
  readonly #missingFrames = new Map<string, number>();
  #nextSeries = 0;
  #nextFrame = 0;

  constructor(table: IdentityTable) {
    this.#table = table;
  }

  indexOfSeries(key: string, series: Series): number {
    const table = this.#table;
    const known = table.isSeriesAt(this.#nextSeries, key, series)
      ? this.#nextSeries
      : table.indexOfSeries(key, series);
    if (known === undefined) {
      return table.identities.series.length + this.missing.series.push(identityOf(series)) - 1;
    }
    this.#nextSeries = known + 1;
    return known;
  }

  indexOfResource(key: string, resource: Resource): number {
    return this.#table.indexOfResource(key, resource) ??
      this.#table.identities.resources.length +
        this.missing.resources.push(resourceIdentityOf(resource)) - 1;
  }

  /** A frame may be one of several profiles. */
  indexOfFrame(name: string): number {
    const { frames } = this.#table.identities;
    if (frames[this.#nextFrame] === name) return this.#nextFrame++;
    const known = this.#table.indexOfFrame(name);
    if (known !== undefined) {
      this.#nextFrame = known + 1;
      return known;
    }
    const missing = this.#missingFrames.get(name);
    if (missing !== undefined) return missing;
    const index = frames.length + this.missing.frames.push(name) - 1;
    this.#missingFrames.set(name, index);
    return index;
  }
}
