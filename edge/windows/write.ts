/** Storing a window, with all its changes in one write. */

import { SECOND_NS } from "@service/core/time";
import {
  type Database,
  type Result,
  type Row,
  type Statement,
  statement,
} from "../database/database.ts";
import { type Blocks, type KnownBlock, storingBlock } from "./blocks.ts";
import { type StoredList, storingLists } from "./entries.ts";
import { addToRollup } from "./late.ts";
import { LEVELS, spanEnd, TIERS } from "./levels.ts";
import { type PackedMinute, storingMinute } from "./open_minutes.ts";
import { notingLate, notingSilence, passing } from "./passed.ts";
import { blockRows } from "./pieces.ts";
import { SILENCE_NS } from "./span.ts";
import {
  DELETE_ROLLUPS,
  INSERT_FOLLOWING,
  INSERT_INSTANCE,
  INSERT_ROLLUP,
  INSERT_WINDOW,
  REPLACE_ROLLUP,
  ROLLUP,
  STATE,
  STATE_AFTER,
  UPDATE_FOLLOWED,
  UPDATE_INSTANCE,
  UPDATE_LATE,
} from "./write_statements.ts";

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
  /** When the workload ended, if the window says so. */
  ended_ns?: bigint;
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
  /** End of the instance's newest window. */
  last_seen_ns: bigint;
  /** Row id of the instance. */
  instance: bigint;
  /** Ends of the minutes whose roll-ups were stored with it. */
  rolled: bigint[];
}

/** What a late window may be merged with. */
export interface StoreOptions {
  /** The blocks in memory. */
  blocks: Blocks;
}

/**
 * Stores a window, unless it is stored already or contradicts stored ones, and removes the roll-ups that
 * lack it: all or nothing, in one round trip if the window follows the newest one, or is the first of its
 * block. One that reads have passed is noted as late.
 */
export async function storeWindow(
  db: Database,
  window: WindowToStore,
  options: StoreOptions,
): Promise<Outcome> {
  const { known, to_ns } = window;
  const { instance } = known;
  const args = argsOf(window);
  if (instance !== undefined) {
    const { inserted, rolled } = await write(db, window, {
      insert: [statement(INSERT_FOLLOWING, { ...args, instance })],
      update: [statement(UPDATE_FOLLOWED, { ...args, instance })],
    });
    if (inserted.rowsAffected > 0) {
      return { stored: true, watermark_ns: to_ns, last_seen_ns: to_ns, instance, rolled };
    }
  }
  const passed = { project: args.project, instance_id: args.instance_id, now_ns: args.received_ns };
  const row = { row_level: 0, row_end_ns: to_ns, row_digest: args.digest };
  const { inserted, state: after, rolled } = await write(db, window, {
    insert: [
      ...instance === undefined ? [statement(INSERT_INSTANCE, args)] : [],
      ...storingBlock(known, args),
      notingSilence(passed),
      statement(INSERT_WINDOW, args),
    ],
    update: [
      statement(UPDATE_INSTANCE, args),
      statement(DELETE_ROLLUPS, { ...args, row_level: 0 }),
      ...notingLate({ ...args, ...row }),
      // After the window: it may fill a gap that no read has passed yet.
      ...passing(passed),
      statement(STATE_AFTER, args),
    ],
  });
  if (inserted.rowsAffected > 0) {
    const state = after as unknown as StoredState;
    known.instance = state.instance;
    return { stored: true, ...state, rolled };
  }
  const { rows: [state] } = await db.query(statement(STATE, args));
  known.instance = state?.has_block ? state.instance as bigint : undefined;
  if (!state?.has_block) return await storeWindow(db, window, options);
  const outcome = notStored(window, state) ?? await storeLate(db, window, { ...options, state });
  return outcome ?? await storeWindow(db, window, options);
}

/** A row of {@linkcode STATE}, and what the window is merged with. */
interface LateOptions extends StoreOptions {
  state: Row;
}

/** Stores a window for a gap in a roll-up; `undefined` if the roll-up has changed meanwhile. */
async function storeLate(
  db: Database,
  window: WindowToStore,
  { blocks, state }: LateOptions,
): Promise<Outcome | undefined> {
  const { project, known: { block } } = window;
  const level = TIERS.findLast(({ column }) => window.to_ns <= (state[column] as bigint))!.kept;
  const end_ns = spanEnd(window.to_ns, level);
  const name = { instance: state.instance as bigint, level, end_ns };
  const { rows: [row] } = await db.query(statement(ROLLUP, name));
  const added = await addToRollup({ ...window, block }, {
    row,
    onDamage: blocks.onDamage,
    blocks: await blocks.load(db, project, blockRows(row ? [row] : [])),
  });
  if ("conflict" in added) {
    const { conflict } = added;
    return conflict === null ? unchanged(state) : { conflict: "window", message: conflict };
  }
  const args = { ...argsOf(window), ...name, row_level: level, row_end_ns: end_ns };
  const { digest, from_ns, to_ns, body } = added;
  const rolled_up = {
    row_digest: digest,
    row_from_ns: from_ns,
    row_to_ns: to_ns,
    body,
    row_hash: Uint8Array.fromHex(added.block),
    old_digest: row?.digest ?? null,
  };
  const { inserted, state: after } = await write(db, { ...window, minutes: [] }, {
    insert: [statement(row ? REPLACE_ROLLUP : INSERT_ROLLUP, { ...args, ...rolled_up })],
    update: [
      statement(UPDATE_LATE, args),
      statement(DELETE_ROLLUPS, args),
      ...notingLate({ ...args, ...rolled_up }),
      statement(STATE_AFTER, args),
    ],
  });
  if (inserted.rowsAffected === 0) return undefined;
  return { stored: true, ...after as unknown as StoredState, rolled: [] };
}

/** The arguments of all statements. */
function argsOf(window: WindowToStore) {
  const { project, key, known, from_ns, to_ns, final, ended_ns, body, digest, received_ns } =
    window;
  const { block: { instance, hash }, tags, attributes } = known;
  const { instance_id, profiler_version, start_ns } = instance;
  return {
    ...{ project, key, instance_id, profiler_version, tags, attributes, start_ns },
    ...{ from_ns, to_ns, body, digest, received_ns },
    hash: Uint8Array.fromHex(hash),
    final_ns: final ? to_ns : null,
    ended_ns: ended_ns ?? null,
    silent_ns: received_ns - SILENCE_NS,
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
  /** First row of the last statement that updates. */
  state: Row | undefined;
  /** Ends of the minutes whose roll-ups were stored with it. */
  rolled: bigint[];
}

/** Stores a window with its entries and minutes in one transaction. */
async function write(
  db: Database,
  window: WindowToStore,
  { insert, update }: Storing,
): Promise<Written> {
  const { project, to_ns, received_ns, entries, minutes = [] } = window;
  const { instance_id } = window.known.block.instance;
  const lists = storingLists(entries, { project, instance_id, to_ns, received_ns });
  const inserting = [...insert, ...lists];
  const rolling = minutes.map((minute) => storingMinute(minute, { project, instance_id }));
  const results = await db.write([...inserting, ...update, ...rolling]);
  return {
    inserted: results[insert.length - 1]!,
    state: results[inserting.length + update.length - 1]!.rows[0],
    rolled: minutes.filter((_, i) => results.at(i - minutes.length)!.rowsAffected > 0)
      .map(({ end_ns }) => end_ns),
  };
}

/** An instance after a window was stored. */
type StoredState = Pick<Stored, "watermark_ns" | "last_seen_ns" | "instance">;

/** The outcome if nothing was stored; `undefined` if the window belongs into a roll-up. */
function notStored(
  { known, from_ns, to_ns, digest }: WindowToStore,
  state: Row,
): Outcome | undefined {
  const { start_ns } = known.block.instance;
  if (state.start_ns !== start_ns) {
    return {
      conflict: "start_ns",
      message: `must be that of the instance's other windows, ${state.start_ns}: got ${start_ns}`,
    };
  }
  if (state.from_ns !== null) {
    const sameSpan = state.from_ns === from_ns && state.to_ns === to_ns;
    if (sameSpan && equal(new Uint8Array(state.digest as ArrayBuffer), digest)) {
      return unchanged(state);
    }
    const stored = `(${state.from_ns}, ${state.to_ns}]`;
    return {
      conflict: "window",
      message: sameSpan
        ? `differs from the one stored for the span ${stored}`
        : `overlaps the one stored for the span ${stored}`,
    };
  }
  if (state.is_passed && to_ns <= (state.downsampled_ns as bigint)) return undefined;
  // All but what was passed was stored: this one was summed up, or removed for its age.
  if (!state.is_passed && from_ns < (state.watermark_ns as bigint)) return unchanged(state);
  return {
    conflict: "final",
    message: "contradicts the instance's last window: none may lie after the final one",
  };
}

/** The outcome of a window that was stored before. */
function unchanged({ watermark_ns, last_seen_ns, instance }: Row): Stored {
  const state = { watermark_ns, last_seen_ns, instance } as unknown as StoredState;
  return { stored: false, ...state, rolled: [] };
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** The longest time from an upload to a turn of the maintenance. */
const DUE_AFTER_NS = 3_600n * SECOND_NS;
