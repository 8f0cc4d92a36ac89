/**
 * Entries: events at an instant, such as errors, in lists that keep the newest. A list is a field of
 * {@linkcode Entries} and a row of {@linkcode entryLists}.
 */

import { MAX_ERROR_LENGTH, MAX_ERRORS } from "./limits.ts";
import { type Fields, list, nanoseconds, object, oneOf, type Shape, text } from "./schema.ts";
import type { Tags } from "./tags.ts";
import { tags } from "./value_schema.ts";

/** The lists of entries: in a window oldest first, in a payload newest first. */
export interface Entries {
  /** Warnings and errors. */
  errors: ErrorEntry[];
}

/** A warning or error of the workload, or of the profiler itself (2.3). */
export interface ErrorEntry {
  /** Severity. */
  level: "warning" | "error";
  /** Description of the event. */
  message: string;
  /** Traceback, or the empty string when there is none. */
  exception: string;
  /** Log time, epoch nanoseconds. */
  log_ns: bigint;
  /** Source of the entry, such as `process.pid`; absent when not known. */
  tags?: Tags;
}

/** One warning or error (2.3). */
export const errorEntry: Shape<ErrorEntry> = object<ErrorEntry>({
  level: oneOf("warning", "error"),
  message: text({ max: MAX_ERROR_LENGTH }),
  exception: text({ max: MAX_ERROR_LENGTH }),
  log_ns: nanoseconds,
  tags,
}, ["tags"]);

/** A list of entries. */
export interface EntryList<Entry> {
  /** Most entries that a window keeps: the newest. */
  readonly limit: number;
  /** The schema of an entry. */
  readonly shape: Shape<Entry>;
  /** The instant of an entry, epoch nanoseconds: the order of the list. */
  at_ns(entry: Entry): bigint;
}

/** Every list of entries, by its field. */
export const entryLists: { readonly [Field in keyof Entries]: EntryList<Entries[Field][number]> } =
  {
    errors: { limit: MAX_ERRORS, shape: errorEntry, at_ns: ({ log_ns }) => log_ns },
  };

type Entry = Entries[keyof Entries][number];

const LISTS = Object.entries(entryLists) as [keyof Entries, EntryList<Entry>][];

/** Lists without entries. */
export function noEntries(): Entries {
  return { errors: [] };
}

/** Adds entries to those of a window, which keeps the newest. */
export function absorbEntries(ours: Entries, theirs: Partial<Entries>): void {
  const lists: Record<keyof Entries, Entry[]> = ours;
  for (const [field, { limit, at_ns }] of LISTS) {
    const added = theirs[field];
    if (!added || added.length === 0) continue;
    lists[field] = [...lists[field], ...added]
      .sort((a, b) => compare(at_ns(a), at_ns(b)))
      .slice(-limit);
  }
}

/** Takes the entries later than `to_ns` out of those of a window. */
export function takeLater(ours: Entries, to_ns: bigint): Entries {
  const lists: Record<keyof Entries, Entry[]> = ours;
  return eachList((field, { at_ns }) => {
    const all = lists[field];
    lists[field] = all.filter((entry) => at_ns(entry) <= to_ns);
    return all.filter((entry) => at_ns(entry) > to_ns);
  }) as Entries;
}

/** Only the lists of `source`, which may have more fields. */
export function entriesOf(source: Entries): Entries {
  return eachList((field) => source[field]) as Entries;
}

/** The lists in the order of a payload. */
export function newestFirst(source: Entries): Entries {
  return eachList((field) => source[field].toReversed()) as Entries;
}

/** The schema of each list in an upload. */
export const uploadedEntries: Fields<Entries> = eachList((_field, { shape, limit }) =>
  list(shape, { max: limit })
) as Fields<Entries>;

/** The schema of each list in a payload, to which a service may add entries of its own. */
export const payloadEntries: Fields<Entries> = eachList((_field, { shape }) =>
  list(shape)
) as Fields<Entries>;

function eachList(make: (field: keyof Entries, row: EntryList<Entry>) => unknown): unknown {
  return Object.fromEntries(LISTS.map(([field, row]) => [field, make(field, row)]));
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
