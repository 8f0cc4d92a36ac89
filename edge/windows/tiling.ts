import { LEVELS, spanNs } from "./levels.ts";

/** Least length of a piece: a window as it came counts where it ends. */
const LENGTHS = [[0, 1n], ...LEVELS.map((level) => [level, spanNs(level)])];

/** What is kept of a time is kept in steps of this, and a read starts and ends at one of them. */
const STEP_OF = (at: string) =>
  `CASE WHEN ${at} < condensed_minutes_ns THEN ${at} / ${spanNs(600)} * ${spanNs(600)}
    WHEN ${at} < condensed_ns THEN ${at} / ${spanNs(60)} * ${spanNs(60)}
    ELSE ${at} END`;

/**
 * Common table expressions of the pieces, of a level below `:below`, that tile `(:start_ns, :end_ns]`
 * of `:instance`, in `tile`, and of the span that they tile, in `span`. From the start on, each is the
 * one that begins first, and of those the longest: as few as there can be, by some index look-ups each.
 */
export const TILING = `WITH RECURSIVE
  levels (level, length_ns) AS (VALUES ${LENGTHS.map(([level, ns]) => `(${level}, ${ns})`)}),
  span (start_ns, end_ns) AS (
    SELECT ${STEP_OF(":start_ns")}, ${STEP_OF(":end_ns")} FROM instances WHERE id = :instance
  ),
  tile (at_ns, id, level) AS (
    SELECT start_ns, NULL, NULL FROM span
    UNION ALL
    SELECT w.end_ns, w.id, w.level FROM tile JOIN windows w ON w.id = (
      SELECT first.id FROM levels l JOIN windows first ON first.id = (
        SELECT id FROM windows WHERE instance = :instance AND level = l.level
          AND end_ns >= tile.at_ns + l.length_ns
        ORDER BY end_ns LIMIT 1
      )
      WHERE l.level < :below AND first.end_ns <= (SELECT end_ns FROM span)
      ORDER BY first.end_ns - l.length_ns, l.level DESC LIMIT 1
    )
  )`;

/** Above all levels. */
export const ANY_LEVEL = 100_000;
