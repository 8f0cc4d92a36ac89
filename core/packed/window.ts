/** The packed window: its frame, read by a table of identities. FORMAT.md describes it. */

import { type Entries, noEntries, uploadedEntries } from "../entries.ts";
import { Ignored } from "../ignored.ts";
import { decode } from "../json.ts";
import type { Series } from "../series/mod.ts";
import { LAST_NS, tsFromNs } from "../time.ts";
import type { Resource, Window } from "../window.ts";
import { HASH_BYTES } from "./block.ts";
import { ColumnReader } from "./column_reader.ts";
import { asDamaged, DamagedError } from "./error.ts";
import { type Frame, HEADER_BYTES, sealed } from "./frame.ts";
import { decodeIdentities, JSON_BOUNDS } from "./identities.ts";
import type { IdentityTable } from "./identity_table.ts";
import type { FrameNames, ReadContext } from "./kind.ts";
import { formats, KINDS } from "./kinds.ts";
import { MERGED_LIMITS, type WindowLimits } from "./window_limits.ts";

/** The fields of a packed window that have a fixed place. */
export interface WindowHead {
  /** Hash of its block. */
  block: string;
  /** Start of its span, exclusive; epoch nanoseconds. */
  from_ns: bigint;
  /** End of its span, inclusive; epoch nanoseconds. */
  to_ns: bigint;
  /** Whether it is the last window of its instance. */
  final: boolean;
}

/** Members of a packed window beside its fields, such as lists of entries; by name. */
export type Members = Readonly<Record<string, unknown>>;

/** Bytes before the identities: the block's hash, both ends of the span, the flags. */
export const FIXED_BYTES: number = HASH_BYTES + 8 + 8 + 1;

/** The flag of the last window of an instance. */
export const FINAL = 1;

const LAST_TS = tsFromNs(LAST_NS);

/** Most bytes of the length of a text. */
const LENGTH_BYTES = 4;

/**
 * The fixed fields of a window's frame.
 *
 * @throws {DamagedError} If they are none.
 */
export function windowHead({ kind, payload }: Frame): WindowHead {
  if (kind !== "window") {
    throw new DamagedError(`there must be a window: got a frame of kind ${kind}`);
  }
  if (payload.length < FIXED_BYTES) throw new DamagedError("the window is cut");
  const view = new DataView(payload.buffer, payload.byteOffset);
  const [from_ns, to_ns] = [HASH_BYTES, HASH_BYTES + 8].map((at) => view.getBigUint64(at, true));
  if (from_ns! > to_ns! || to_ns! > LAST_NS) {
    throw new DamagedError(`a window must not end before it starts: got ${from_ns} to ${to_ns}`);
  }
  const flags = payload[FIXED_BYTES - 1]!;
  if (flags > FINAL) throw new DamagedError(`the flags of a window are not known: ${flags}`);
  return {
    block: payload.subarray(0, HASH_BYTES).toHex(),
    from_ns: from_ns!,
    to_ns: to_ns!,
    final: flags === FINAL,
  };
}

/** How a window is read. */
export interface ReadWindowOptions {
  /** The table of the block that the window names. */
  table: IdentityTable;
  /** Whether series of this name are read; all when absent. */
  wanted?: (name: string) => boolean;
  /** Limits of an upload; those of windows merged from uploads when absent. */
  limits?: WindowLimits;
  /** Where the members of entries that are not known are named. */
  ignored?: Ignored;
}

/** A window that was read. */
export interface ReadWindow extends WindowHead {
  /** The window. */
  window: Window;
  /** Its members that are no entries, unchecked. */
  members: Members;
}

/**
 * The window in a frame.
 *
 * @throws {DamagedError} If it is not what was written, or does not belong to the table.
 */
export function readWindow(
  frame: Frame,
  { table, wanted, ignored, limits = MERGED_LIMITS }: ReadWindowOptions,
): ReadWindow {
  const head = windowHead(frame);
  const { payload } = frame;
  const own = textAt(payload, FIXED_BYTES);
  const added = textAt(payload, own.end);
  const known = own.text === "" ? table : table.with(decodeIdentities(own.text));
  const { entries, members } = added.text === ""
    ? { entries: noEntries(), members: {} }
    : readMembers(added.text, ignored);
  const input = new ColumnReader(payload, added.end, limits.magnitude);
  const { from_ns, to_ns } = head;
  const series = readSeries(input, { table: known, to_ns, wanted, limits });
  const resources = readResources(input, { table: known, to_ns, limits });
  input.end();
  return { ...head, window: { from_ns, to_ns, series, resources, ...entries }, members };
}

/** The same window without its members, entries among them. */
export function withoutMembers(frame: Frame): Frame {
  const { payload } = frame;
  const own = textAt(payload, FIXED_BYTES);
  const added = textAt(payload, own.end);
  if (added.text === "") return frame;
  const kept = payload.subarray(0, own.end);
  const columns = payload.subarray(added.end);
  const bytes = new Uint8Array(HEADER_BYTES + kept.length + 1 + columns.length);
  bytes.set(kept, HEADER_BYTES);
  bytes.set(columns, HEADER_BYTES + kept.length + 1);
  return sealed("window", bytes);
}

interface ReadPartOptions extends Pick<ReadWindowOptions, "table" | "wanted"> {
  to_ns: bigint;
  limits: WindowLimits;
}

function readSeries(
  input: ColumnReader,
  { table, to_ns, wanted, limits }: ReadPartOptions,
): Map<string, Series> {
  const { series: identities, frames: names } = table.identities;
  const indexes = input.ascending(identities.length, limits.series);
  const all = indexes.map((index) => {
    const identity = identities[index]!;
    return formats[identity.type].blank(identity, instantBefore(to_ns, input.integer()));
  });
  const frames = { names, max: limits.profile_frames, room: limits.frames };
  const context: Partial<ReadContext> & { frames: FrameNames } = { frames };
  for (const { type, columns } of KINDS) {
    const ofKind: number[] = [];
    for (let i = 0; i < all.length; i++) if (all[i]!.type === type) ofKind.push(i);
    for (const column of columns) {
      for (const i of ofKind) {
        context.identity = identities[indexes[i]!]!;
        column.read(input, all[i]!, context as ReadContext);
      }
    }
  }
  const series = new Map<string, Series>();
  for (let i = 0; i < all.length; i++) series.set(table.seriesKeys[indexes[i]!]!, all[i]!);
  if (series.size < all.length) throw new DamagedError("a window must not have a series twice");
  if (wanted) { for (const [key, { name }] of series) if (!wanted(name)) series.delete(key); }
  return series;
}

function readResources(
  input: ColumnReader,
  { table: { identities: { resources: identities }, resourceKeys }, to_ns, limits }:
    ReadPartOptions,
): Map<string, Resource> {
  const end_ts = tsFromNs(to_ns);
  const indexes = input.ascending(identities.length, limits.resources);
  const resources = new Map(indexes.map((index) => {
    const last_seen_ts = end_ts - Number(input.integer());
    if (last_seen_ts < 0 || last_seen_ts > LAST_TS) {
      throw new DamagedError(`last_seen_ts must be epoch seconds: got ${last_seen_ts}`);
    }
    return [resourceKeys[index]!, { ...identities[index]!, last_seen_ts }];
  }));
  if (resources.size === indexes.length) return resources;
  throw new DamagedError("a window must not have a resource twice");
}

function instantBefore(to_ns: bigint, age_ns: number | bigint): bigint {
  if (age_ns === 0) return to_ns;
  const at_ns = to_ns - BigInt(age_ns);
  if (at_ns >= 0n && at_ns <= LAST_NS) return at_ns;
  throw new DamagedError(`an update must be in epoch nanoseconds: got ${at_ns}`);
}

function readMembers(
  text: string,
  ignored = new Ignored(),
): { entries: Entries; members: Members } {
  const all = asDamaged("members", () => decode(text, JSON_BOUNDS));
  if (typeof all !== "object" || all === null || Array.isArray(all)) {
    throw new DamagedError("members must be an object");
  }
  const members: Record<string, unknown> = { ...all };
  const entries = noEntries();
  for (const list of Object.keys(entries) as (keyof Entries)[]) {
    const given = members[list];
    const mark = ignored.size;
    if (given === undefined) continue;
    entries[list] = asDamaged(list, () => uploadedEntries[list].check(given, ignored));
    ignored.within(list, mark);
    delete members[list];
  }
  return { entries, members };
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text at an index, behind its length in bytes. */
function textAt(payload: Uint8Array, at: number): { text: string; end: number } {
  const { value: length, end: start } = varintAt(payload, at);
  const end = start + length;
  if (end > payload.length) throw new DamagedError("a text of the window is cut");
  if (length === 0) return { text: "", end };
  return { text: asDamaged("text", () => utf8.decode(payload.subarray(start, end))), end };
}

function varintAt(payload: Uint8Array, at: number): { value: number; end: number } {
  let value = 0;
  for (let i = 0; i < LENGTH_BYTES && at + i < payload.length; i++) {
    const byte = payload[at + i]!;
    value += (byte & 127) * 128 ** i;
    if (byte < 128) return { value, end: at + i + 1 };
  }
  throw new DamagedError("the length of a text is cut, or too large");
}
