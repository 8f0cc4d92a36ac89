/** Entries of windows, such as errors, as they are stored: a row for each list that has some. */

import { decode, encode, type Entries } from "@service/core";
import { absorbEntries, entryLists, payloadEntries } from "@service/core/entries";
import { type Result, type Statement, statement } from "../database/database.ts";

/** One list of a window, as it is stored. */
export interface StoredList {
  list: keyof Entries;
  /** JSON. */
  entries: string;
  count: number;
}

const LISTS = Object.keys(entryLists) as (keyof Entries)[];

/** The lists of a window that have entries. */
export function storedLists(window: Entries): StoredList[] {
  return LISTS.filter((list) => window[list].length > 0).map((list) => ({
    list,
    entries: encode(window[list]),
    count: window[list].length,
  }));
}

/** The statements that store lists, to be written right after the one that inserts their window. */
export function storingLists(
  lists: readonly StoredList[],
  { project, instance_id, to_ns }: { project: bigint; instance_id: string; to_ns: bigint },
): Statement[] {
  return lists.map((list) => statement(INSERT, { ...list, project, instance_id, to_ns }));
}

/** The statements that read the newest entries of an instance in `(after_ns, end_ns]`, list by list. */
export function readingNewest(
  span: { instance: bigint; after_ns: bigint; end_ns: bigint },
): Statement[] {
  return LISTS.map((list) => statement(NEWEST, { ...span, list, max: entryLists[list].limit }));
}

/** Adds what {@linkcode readingNewest} read to the entries of a window. */
export function absorbStored(window: Entries, results: readonly Result[]): void {
  for (const [i, list] of LISTS.entries()) {
    const { check } = payloadEntries[list];
    const stored = results[i]!.rows.flatMap(({ entries }) => check(decode(entries as string)));
    absorbEntries(window, { [list]: stored });
  }
}

/** `changes() > 0`: only if the window, or the list before this one, was new. */
const INSERT = `INSERT INTO entries (instance, list, to_ns, entries, count)
  SELECT id, :list, :to_ns, :entries, :count FROM instances
  WHERE project = :project AND instance_id = :instance_id AND changes() > 0`;

/** Rows of a list, the newest, until they hold enough. */
const NEWEST = `/* read the newest entries */ SELECT entries FROM (
  SELECT entries, sum(count) OVER (ORDER BY to_ns DESC) - count AS newer FROM entries
  WHERE instance = :instance AND list = :list AND to_ns > :after_ns AND to_ns <= :end_ns
  ORDER BY to_ns DESC LIMIT :max
) WHERE newer < :max`;
