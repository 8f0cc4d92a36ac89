/** Storing a window, with all its changes in one write. */

import { SECOND_NS } from "@service/core/time";
import {
  type Database,
  type Result,
  type Row,
  type Statement,
  statement,
} from "../database/database.ts";
import { type KnownBlock, storingBlock } from "./blocks.ts";
import { type StoredList, storingLists } from "./entries.ts";
import { LEVELS, spanEnd } from "./levels.ts";
import { type PackedMinute, storingMinute } from "./open_minutes.ts";

/** One window of an instance, as it is stored. */
export interface WindowToStore {
  /** Row id of the project. */
  project: bigint;
  /** Name of the key of its upload. */
  key: string;
  /** The block that it names. */
  known: KnownBlock;
  from_ns: bigint;
  to_ns: bigint;
  final: boolean;
  /** Its packed window without entries, as the row has it. */
  body: Uint8Array<ArrayBuffer>;
  /** Digest of the window as it came. */
  digest: Uint8Array<ArrayBuffer>;
  entries: StoredList[];
  /** By the clock of the service. */
  received_ns: bigint;
  /** Roll-ups of the minutes that end with it, if they are in memory. */
  minutes?: PackedMinute[];
}

/** The outcome of storing a window. */
export type Outcome =
  | Stored
  | { conflict: "start_ns" | "window" | "final"; message: string };

/** A window that is stored, now or before. */
export interface Stored {
  stored: boolean;
  watermark_ns: bigint;
  /** Row id of the instance. */
  instance: bigint;
  /** Ends of the minutes whose roll-ups were stored with it. */
  rolled: bigint[];
}

/**
 * Stores a window, unless it is stored already or contradicts stored ones, and removes the roll-ups that
 * lack it: all or nothing, in one round trip if the window follows the newest one, or is the first of its
 * block.
 */
export async function storeWindow(db: Database, window: WindowToStore): Promise<Outcome> {
  const { known, to_ns } = window;
  const { instance } = known;
  const args = argsOf(window);
  if (instance !== undefined) {
    const { inserted, rolled } = await write(db, window, {
      insert: [statement(INSERT_FOLLOWING, { ...args, instance })],
      update: [statement(UPDATE_FOLLOWED, { ...args, instance })],
    });
    if (inserted.rowsAffected > 0) return { stored: true, watermark_ns: to_ns, instance, rolled };
  }
  const { updated: { rows: [stored] }, rolled } = await write(db, window, {
    insert: [
      ...instance === undefined ? [statement(INSERT_INSTANCE, args)] : [],
      ...storingBlock(known, args),
      statement(INSERT_WINDOW, args),
    ],
    update: [statement(UPDATE_INSTANCE, args), statement(DELETE_ROLLUPS, args)],
  });
  if (stored) {
    const state = stored as unknown as StoredState;
    known.instance = state.instance;
    return { stored: true, ...state, rolled };
  }
  const { rows: [state] } = await db.query(statement(STATE, args));
  known.instance = state?.has_block ? state.instance as bigint : undefined;
  return state?.has_block ? notStored(window, state) : await storeWindow(db, window);
}

/** The arguments of all statements. */
function argsOf(window: WindowToStore) {
  const { project, key, known, from_ns, to_ns, final, body, digest, received_ns } = window;
  const { block: { instance, hash }, tags, attributes } = known;
  const { instance_id, profiler_version, start_ns } = instance;
  return {
    ...{ project, key, instance_id, profiler_version, tags, attributes, start_ns },
    ...{ from_ns, to_ns, body, digest, received_ns },
    hash: Uint8Array.fromHex(hash),
    final_ns: final ? to_ns : null,
    due_ns: received_ns + DUE_AFTER_NS,
    ...Object.fromEntries(LEVELS.map((level) => [`end_${level}_ns`, spanEnd(to_ns, level)])),
  };
}

/** Statements that store a window: the last of `insert` inserts it, the others depend on that. */
interface Storing {
  insert: Statement[];
  update: Statement[];
}

/** What became of a window. */
interface Written {
  /** Result of the statement that inserts it. */
  inserted: Result;
  /** Result of the first statement that updates its instance. */
  updated: Result;
  /** Ends of the minutes whose roll-ups were stored with it. */
  rolled: bigint[];
}

/** Stores a window with its entries and minutes in one transaction. */
async function write(
  db: Database,
  window: WindowToStore,
  { insert, update }: Storing,
): Promise<Written> {
  const { project, to_ns, entries, minutes = [] } = window;
  const { instance_id } = window.known.block.instance;
  const inserting = [...insert, ...storingLists(entries, { project, instance_id, to_ns })];
  const rolling = minutes.map((minute) => storingMinute(minute, { project, instance_id }));
  const results = await db.write([...inserting, ...update, ...rolling]);
  return {
    inserted: results[insert.length - 1]!,
    updated: results[inserting.length]!,
    rolled: minutes.filter((_, i) => results.at(i - minutes.length)!.rowsAffected > 0)
      .map(({ end_ns }) => end_ns),
  };
}

interface StoredState {
  watermark_ns: bigint;
  instance: bigint;
}

/** The outcome if nothing was stored. */
function notStored({ known, from_ns, to_ns, digest }: WindowToStore, state: Row): Outcome {
  const { start_ns } = known.block.instance;
  const watermark_ns = state.watermark_ns as bigint;
  const instance = state.instance as bigint;
  const unchanged = { stored: false, watermark_ns, instance, rolled: [] };
  if (state.start_ns !== start_ns) {
    return {
      conflict: "start_ns",
      message: `must be that of the instance's other windows, ${state.start_ns}: got ${start_ns}`,
    };
  }
  if (state.from_ns !== null) {
    const sameSpan = state.from_ns === from_ns && state.to_ns === to_ns;
    if (sameSpan && equal(new Uint8Array(state.digest as ArrayBuffer), digest)) {
      return unchanged;
    }
    const stored = `(${state.from_ns}, ${state.to_ns}]`;
    return {
      conflict: "window",
      message: sameSpan
        ? `differs from the one stored for the span ${stored}`
        : `overlaps the one stored for the span ${stored}`,
    };
  }
  if (from_ns < (state.given_up_ns as bigint)) return tooLate(state.given_up_ns as bigint);
  // Below the watermark every window was stored: this one was downsampled, or removed for its age.
  if (from_ns < watermark_ns) return unchanged;
  if (to_ns <= (state.downsampled_ns as bigint)) return tooLate(state.downsampled_ns as bigint);
  return {
    conflict: "final",
    message: "contradicts the instance's last window: none may lie after the final one",
  };
}

function tooLate(at_ns: bigint): Outcome {
  return {
    conflict: "window",
    message: `is too late: all up to ${at_ns} was summed up, as the instance was silent for long`,
  };
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** The longest time from an upload to a turn of the maintenance. */
const DUE_AFTER_NS = 3_600n * SECOND_NS;

const THIS_INSTANCE = "project = :project AND instance_id = :instance_id";

/** A column of the first window that ends after `from_ns`: of the stored ones only it may overlap. */
function ofNextWindow(column: string): string {
  return `SELECT ${column} FROM windows
  WHERE instance = i.id AND level = 0 AND end_ns > :from_ns ORDER BY end_ns LIMIT 1`;
}

/** Sets a column, unless the window is late: its tags and attributes are older than the stored ones. */
function setIfNewest(column: string): string {
  return `${column} = iif(:to_ns >= last_seen_ns, :${column}, ${column})`;
}

const INSERT_INSTANCE = `INSERT INTO instances (project, instance_id, key, tags, attributes,
    profiler_version, start_ns, watermark_ns, last_seen_ns, received_ns, rolled_ns, due_ns)
  VALUES (:project, :instance_id, :key, :tags, :attributes,
    :profiler_version, :start_ns, :start_ns, :to_ns, :received_ns, :start_ns, :due_ns)
  ON CONFLICT DO NOTHING`;

/** Nothing that is stored can overlap a window that follows the newest one, or be summed up without it. */
const INSERT_FOLLOWING = `/* insert the window */ INSERT INTO windows
    (instance, level, end_ns, from_ns, to_ns, digest, block, body)
  SELECT i.id, 0, :to_ns, :from_ns, :to_ns, :digest, b.id, :body FROM instances i
  JOIN blocks b ON b.instance = i.id AND b.hash = :hash
  WHERE i.id = :instance AND ${THIS_INSTANCE} AND start_ns = :start_ns
    AND watermark_ns = :from_ns AND last_seen_ns = :from_ns AND final_ns IS NULL`;

/** `changes() > 0`, here and below: only if the window was new. */
const UPDATE_FOLLOWED = `UPDATE instances SET
    received_ns = :received_ns, final_ns = :final_ns, watermark_ns = :to_ns, last_seen_ns = :to_ns,
    key = :key, tags = :tags, attributes = :attributes, profiler_version = :profiler_version,
    due_ns = min(due_ns, :due_ns)
  WHERE id = :instance AND changes() > 0`;

const INSERT_WINDOW = `/* insert the window */ INSERT INTO windows
    (instance, level, end_ns, from_ns, to_ns, digest, block, body)
  SELECT i.id, 0, :to_ns, :from_ns, :to_ns, :digest, b.id, :body FROM instances i
  JOIN blocks b ON b.instance = i.id AND b.hash = :hash
  WHERE ${THIS_INSTANCE} AND start_ns = :start_ns AND watermark_ns <= :from_ns
    AND downsampled_ns < :to_ns
    AND (final_ns IS NULL OR :to_ns <= final_ns)
    AND (:final_ns IS NULL OR last_seen_ns <= :to_ns)
    AND coalesce((${ofNextWindow("from_ns")}) >= :to_ns, TRUE)`;

const UPDATE_INSTANCE = `UPDATE instances SET
    received_ns = :received_ns,
    final_ns = coalesce(final_ns, :final_ns),
    watermark_ns = (
      WITH RECURSIVE chain (end_ns) AS (
        SELECT instances.watermark_ns
        UNION ALL
        SELECT w.to_ns FROM chain JOIN windows w ON w.from_ns <= chain.end_ns AND w.id = (
          SELECT id FROM windows WHERE instance = instances.id AND level = 0
            AND windows.end_ns > chain.end_ns ORDER BY windows.end_ns LIMIT 1
        )
      )
      SELECT max(end_ns) FROM chain
    ),
    ${setIfNewest("key")},
    ${setIfNewest("tags")},
    ${setIfNewest("attributes")},
    ${setIfNewest("profiler_version")},
    last_seen_ns = max(last_seen_ns, :to_ns),
    rolled_ns = min(rolled_ns, :from_ns),
    due_ns = min(due_ns, :due_ns)
  WHERE ${THIS_INSTANCE} AND changes() > 0
  RETURNING watermark_ns, id AS instance`;

const DELETE_ROLLUPS = `DELETE FROM windows
  WHERE instance = (SELECT id FROM instances WHERE ${THIS_INSTANCE})
    AND (level, end_ns) IN (VALUES ${LEVELS.map((level) => `(${level}, :end_${level}_ns)`)})
    AND changes() > 0`;

const STATE =
  `SELECT i.id AS instance, i.start_ns, i.watermark_ns, i.given_up_ns, i.downsampled_ns, w.from_ns, w.to_ns, w.digest,
    EXISTS (SELECT 1 FROM blocks WHERE instance = i.id AND hash = :hash) AS has_block
  FROM instances i
  LEFT JOIN windows w ON w.from_ns < :to_ns AND w.id = (${ofNextWindow("id")})
  WHERE ${THIS_INSTANCE}`;
