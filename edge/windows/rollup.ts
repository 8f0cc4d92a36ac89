import { SECOND_NS } from "@service/core/time";
import { type Database, statement } from "../database/database.ts";
import { type Dictionaries, type InstanceName, storingDictionary } from "./dictionaries.ts";
import { closedBetween, type Level, LEVELS, spanNs } from "./levels.ts";
import { encodeHoles, mergePieces, PIECES, PIECES_NAMED } from "./pieces.ts";

/** Pieces that one upload may have merged for each span it closes; more wait for the maintenance. */
const MOST_AT_INGEST = 128;

/** Which roll-up to make. */
export interface RollupOptions {
  dictionaries: Dictionaries;
  name: InstanceName;
  /** Row id of the instance. */
  instance: bigint;
  level: Level;
  end_ns: bigint;
  /** Pieces it may be made of: with more it is not made. */
  most: number;
  received_ns: bigint;
}

/**
 * Makes the roll-up of a span from the fewest finer pieces; says whether it did. It is stored only if
 * the span still has exactly these pieces: a window that came meanwhile, to any process, has others.
 */
export async function rollUp(db: Database, options: RollupOptions): Promise<boolean> {
  const { dictionaries, name, most, ...rest } = options;
  const start_ns = rest.end_ns - spanNs(rest.level);
  const args = { ...rest, start_ns, below: rest.level, most: most + 1 };
  const { rows } = await db.query(statement(PIECES, args));
  if (rows.length === 0 || rows.length > most) return false;
  const known = dictionaries.known(name);
  const { window, intervals } = await mergePieces(rows, { start_ns, known });
  const { body, dictionary } = await dictionaries.packRollup(db, { name, window });
  const results = await db.write([
    ...storingDictionary(dictionary, { ...name, received_ns: options.received_ns }),
    statement(INSERT_ROLLUP, {
      ...args,
      body,
      hash: dictionary.hash,
      from_ns: intervals[0]!.from_ns,
      to_ns: window.to_ns,
      holes: encodeHoles(intervals),
      pieces: rows.map(({ id }) => id).join(),
    }),
  ]);
  return results.at(-1)!.rowsAffected > 0;
}

/** A window that has come, and the ends of minutes that were rolled up with it. */
export type ClosingOptions = Omit<RollupOptions, "level" | "end_ns" | "most"> & {
  from_ns: bigint;
  to_ns: bigint;
  rolled: bigint[];
};

/**
 * Seconds after the end of a span by which its roll-up is made at the latest: spans of all instances
 * end at once, and their roll-ups are not to be made at once.
 */
const MOST_LAG_S: Record<Level, number> = { 60: 0, 600: 540, 7_200: 1_800, 86_400: 7_200 };

/** Multiples of it, less their whole part, lie evenly, however many there are. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

function lagNs(instance: bigint, level: Level): bigint {
  const part = Number(instance) * GOLDEN % 1;
  return BigInt(Math.floor(part * MOST_LAG_S[level])) * SECOND_NS;
}

/**
 * Makes the roll-ups that are due when a window has come, the finest first. What is due after the last
 * window of an instance is left to the maintenance.
 */
export async function rollUpClosed(db: Database, options: ClosingOptions): Promise<void> {
  const { from_ns, to_ns, rolled, ...rest } = options;
  for (const level of LEVELS) {
    const lag_ns = lagNs(rest.instance, level);
    for (const end_ns of closedBetween(from_ns - lag_ns, to_ns - lag_ns, level)) {
      if (level === LEVELS[0] && rolled.includes(end_ns)) continue;
      await rollUp(db, { ...rest, level, end_ns, most: MOST_AT_INGEST });
    }
  }
}

const INSERT_ROLLUP = `/* insert the roll-up */ INSERT INTO windows
    (instance, level, end_ns, from_ns, to_ns, dictionary, holes, body)
  SELECT :instance, :level, :end_ns, :from_ns, :to_ns, id, :holes, :body FROM dictionaries
  WHERE instance = :instance AND hash = :hash AND :pieces = (${PIECES_NAMED})
  ON CONFLICT DO NOTHING`;
