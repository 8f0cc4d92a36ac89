/** Entries of windows, such as errors, as they are stored: a row for each list that has some. */

import { decode, encode, type Entries, type ErrorEntry } from "@service/core";
import { absorbEntries, entryLists, payloadEntries } from "@service/core/entries";
import { asDamaged, crc32, DamagedError } from "@service/core/packed";
import { type Result, type Row, type Statement, statement } from "../database/database.ts";
import { isDamage } from "./damage.ts";

/** One list of a window, as it is stored. */
export interface StoredList {
  list: keyof Entries;
  /** JSON behind its CRC-32. */
  entries: Uint8Array<ArrayBuffer>;
  count: number;
}

/** Bytes of a checksum. */
const CRC_BYTES = 4;

const LISTS = Object.keys(entryLists) as (keyof Entries)[];

/** The lists of a window that have entries. */
export function storedLists(window: Entries): StoredList[] {
  return LISTS.filter((list) => window[list].length > 0).map((list) => ({
    list,
    entries: sealed(encode(window[list])),
    count: window[list].length,
  }));
}

/** The statements that store lists, to be written right after the one that inserts their window. */
export function storingLists(
  lists: readonly StoredList[],
  of: { project: bigint; instance_id: string; to_ns: bigint; received_ns: bigint },
): Statement[] {
  return lists.map((list) => statement(INSERT, { ...list, ...of }));
}

/** The statements that read the newest entries of an instance in `(after_ns, end_ns]`, list by list. */
export function readingNewest(
  span: { instance: bigint; after_ns: bigint; end_ns: bigint },
): Statement[] {
  return LISTS.map((list) => statement(NEWEST, { ...span, list, max: entryLists[list].limit }));
}

/**
 * Adds what {@linkcode readingNewest} read to the entries of a window: a warning in place of each row
 * that is damaged, for which `onDamage` is called.
 */
export function absorbStored(
  window: Entries,
  results: readonly Result[],
  onDamage: (error: Error) => void,
): void {
  for (const [i, list] of LISTS.entries()) {
    for (const row of results[i]!.rows) {
      try {
        absorbEntries(window, { [list]: entriesIn(row, list) });
      } catch (error) {
        if (!isDamage(error)) throw error;
        onDamage(new Error(`Cannot read row ${row.id} of entries: ${error.message}`));
        absorbEntries(window, { errors: [damageOf(row, list)] });
      }
    }
  }
}

/** @throws {DamagedError} If the row has something else than the entries that were stored. */
function entriesIn<List extends keyof Entries>({ entries, count }: Row, list: List): Entries[List] {
  const text = unsealed(new Uint8Array(entries as ArrayBuffer));
  const read = asDamaged("entries", () => payloadEntries[list].check(decode(text)));
  if (BigInt(read.length) === count) return read;
  throw new DamagedError(`there must be ${count} entries: got ${read.length}`);
}

function damageOf({ to_ns, count }: Row, list: keyof Entries): ErrorEntry {
  return {
    level: "warning",
    message: `${count} ${list} are stored and cannot be read`,
    exception: "",
    log_ns: to_ns as bigint,
  };
}

function sealed(text: string): Uint8Array<ArrayBuffer> {
  const json = new TextEncoder().encode(text);
  const bytes = new Uint8Array(CRC_BYTES + json.length);
  new DataView(bytes.buffer).setUint32(0, crc32(json));
  bytes.set(json, CRC_BYTES);
  return bytes;
}

/** @throws {DamagedError} If the bytes are not what {@linkcode sealed} made. */
function unsealed(bytes: Uint8Array<ArrayBuffer>): string {
  const json = bytes.subarray(CRC_BYTES);
  const isWhole = bytes.length >= CRC_BYTES &&
    new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) === crc32(json);
  if (isWhole) return new TextDecoder().decode(json);
  throw new DamagedError("the checksum of the entries is wrong");
}

/** `changes() > 0`: only if the window, or the list before this one, was new. */
const INSERT = `INSERT INTO entries (instance, list, to_ns, received_ns, entries, count)
  SELECT id, :list, :to_ns, :received_ns, :entries, :count FROM instances
  WHERE project = :project AND instance_id = :instance_id AND changes() > 0`;

/** Rows of a list, the newest, until they hold enough. */
const NEWEST = `/* read the newest entries */ SELECT id, to_ns, count, entries FROM (
  SELECT id, to_ns, count, entries, sum(count) OVER (ORDER BY to_ns DESC) - count AS newer FROM entries
  WHERE instance = :instance AND list = :list AND to_ns > :after_ns AND to_ns <= :end_ns
  ORDER BY to_ns DESC LIMIT :max
) WHERE newer < :max`;
