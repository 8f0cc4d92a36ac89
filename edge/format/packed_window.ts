/**
 * The packed window: values in the order of a dictionary, and identities that it lacks. FORMAT.md
 * describes it byte by byte.
 */

import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Resource, Series, Window } from "@service/core";
import { noEntries } from "@service/core/entries";
import { tsFromNs } from "@service/core/time";
import { ColumnReader, ColumnWriter, sortedByIndex } from "./columns.ts";
import {
  decodeIdentities,
  type Dictionary,
  encodeIdentities,
  type Identities,
  identityOf,
  resourceIdentityOf,
} from "./dictionary.ts";
import type { FrameIndexes, KindFormat } from "./kind.ts";
import { formats } from "./kinds.ts";

/** First byte of a packed window: the columns alone follow. */
const PLAIN = 2;

/** First byte: length and text of missing identities and the columns follow, deflated. */
const DEFLATED = 3;

/** A third less time than the next level takes, for a tenth more bytes. */
const DEFLATE_LEVEL = 1;

const KINDS: readonly KindFormat<Series>[] = Object.values(formats);

/** A window in few bytes. */
export interface Packed {
  body: Uint8Array<ArrayBuffer>;
  /** Identities that the dictionary lacks: they are in the body. */
  missing: Identities;
}

/** How a window is packed. */
export interface PackOptions {
  dictionary: Dictionary;
  /** To a third less, for as much time as all the rest takes. */
  deflate: boolean;
}

/** The parts of a window that are stored beside its body. */
export interface UnpackOptions {
  dictionary: Dictionary;
  from_ns: bigint;
  to_ns: bigint;
}

/** Packs windows; its buffers are used for one after the other. */
export class WindowPacker {
  readonly #columns = new ColumnWriter();

  /** The window's series and resources; its span and its entries are stored beside. */
  pack(window: Window, { dictionary, deflate }: PackOptions): Packed {
    const columns = this.#columns;
    columns.clear();
    const missing = writeWindow(columns, window, dictionary);
    if (isEmpty(missing) && !deflate) {
      const body = columns.bytes(1);
      body[0] = PLAIN;
      return { body, missing };
    }
    const text = isEmpty(missing) ? "" : encodeIdentities(missing);
    return { body: deflated(new TextEncoder().encode(text), columns), missing };
  }
}

/** The identities of a window that a dictionary lacks. */
export function missingIn(dictionary: Dictionary, window: Window): Identities {
  return writeWindow(new ColumnWriter(), window, dictionary);
}

/**
 * The window that was packed, without its entries.
 *
 * @throws {RangeError} If the bytes are not those of a window, or are cut.
 */
export function unpack(body: Uint8Array, options: UnpackOptions): Window {
  const { from_ns, to_ns } = options;
  const { text, columns } = partsOf(body);
  const dictionary = text === ""
    ? options.dictionary
    : options.dictionary.with(decodeIdentities(text));
  const input = new ColumnReader(columns);
  const series = readAllSeries(input, dictionary, to_ns);
  const resources = readResources(input, dictionary, to_ns);
  input.end();
  return { from_ns, to_ns, series, resources, ...noEntries() };
}

const LENGTH_BYTES = 4;
const utf8 = new TextDecoder();

/** The columns behind a text and its length. */
function deflated(text: Uint8Array, columns: ColumnWriter): Uint8Array<ArrayBuffer> {
  const inflated = columns.bytes(LENGTH_BYTES + text.length);
  new DataView(inflated.buffer).setUint32(0, text.length, true);
  inflated.set(text, LENGTH_BYTES);
  const bytes = deflateRawSync(inflated, { level: DEFLATE_LEVEL });
  const body = new Uint8Array(1 + bytes.length);
  body[0] = DEFLATED;
  body.set(bytes, 1);
  return body;
}

/** The missing identities as JSON, and the columns. */
function partsOf(body: Uint8Array): { text: string; columns: Uint8Array } {
  if (body[0] === PLAIN) return { text: "", columns: body.subarray(1) };
  if (body[0] !== DEFLATED) throw new RangeError("Cannot unpack a window: its format is not known");
  const inflated = inflateRawSync(body.subarray(1));
  const length = new DataView(inflated.buffer, inflated.byteOffset).getUint32(0, true);
  const end = LENGTH_BYTES + length;
  return {
    text: utf8.decode(inflated.subarray(LENGTH_BYTES, end)),
    columns: inflated.subarray(end),
  };
}

function isEmpty({ series, frames, resources }: Identities): boolean {
  return series.length + frames.length + resources.length === 0;
}

/** Writes a window; returns the identities that the dictionary lacks, numbered after its own. */
function writeWindow(
  out: ColumnWriter,
  { series, resources, to_ns }: Window,
  dictionary: Dictionary,
): Identities {
  const indexes = new Indexes(dictionary);
  const items = writeIndexes(out, series, (key, entry) => indexes.indexOfSeries(key, entry));
  for (const { updated_ns } of items) {
    out.value(updated_ns === to_ns ? 0 : numberOrBigint(to_ns - updated_ns));
  }
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
  for (const [key, item] of all) indexes.push(indexOf(key, item));
  const [sorted, items] = sortedByIndex(indexes, [...all.values()]);
  out.ascending(sorted);
  return items;
}

/** Indexes in a dictionary; those of missing identities come after its own. */
class Indexes implements FrameIndexes {
  readonly missing: Identities = { series: [], frames: [], resources: [] };
  readonly #dictionary: Dictionary;
  readonly #missingFrames = new Map<string, number>();

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
  }

  indexOfSeries(key: string, series: Series): number {
    return this.#dictionary.indexOfSeries(key, series) ??
      this.#dictionary.identities.series.length + this.missing.series.push(identityOf(series)) - 1;
  }

  indexOfResource(key: string, resource: Resource): number {
    return this.#dictionary.indexOfResource(key, resource) ??
      this.#dictionary.identities.resources.length +
        this.missing.resources.push(resourceIdentityOf(resource)) - 1;
  }

  /** A frame may be one of several profiles. */
  indexOfFrame(name: string): number {
    const known = this.#dictionary.indexOfFrame(name) ?? this.#missingFrames.get(name);
    if (known !== undefined) return known;
    const index = this.#dictionary.identities.frames.length + this.missing.frames.push(name) - 1;
    this.#missingFrames.set(name, index);
    return index;
  }
}

function readAllSeries(
  input: ColumnReader,
  { known, seriesKeys }: Dictionary,
  to_ns: bigint,
): Map<string, Series> {
  const indexes = input.ascending(known.length);
  const all = indexes.map((index) => {
    const { name, type, tags } = known[index]!.identity;
    const age_ns = input.value<number | bigint>();
    const updated_ns = age_ns === 0 ? to_ns : to_ns - BigInt(age_ns);
    return formats[type].blank({ name, tags, updated_ns });
  });
  for (const { type, columns } of KINDS) {
    const ofKind: number[] = [];
    for (let i = 0; i < all.length; i++) if (all[i]!.type === type) ofKind.push(i);
    for (const column of columns) {
      for (const i of ofKind) column.read(input, all[i]!, known[indexes[i]!]!);
    }
  }
  const series = new Map<string, Series>();
  for (const [i, index] of indexes.entries()) series.set(seriesKeys[index]!, all[i]!);
  return series;
}

function readResources(
  input: ColumnReader,
  { identities: { resources: identities }, resourceKeys }: Dictionary,
  to_ns: bigint,
): Map<string, Resource> {
  return new Map(
    input.ascending(identities.length).map((index) => [
      resourceKeys[index]!,
      { ...identities[index]!, last_seen_ts: tsFromNs(to_ns) - input.value<number>() },
    ]),
  );
}

function numberOrBigint(ns: bigint): number | bigint {
  const near = Number(ns);
  return Number.isSafeInteger(near) ? near : ns;
}
