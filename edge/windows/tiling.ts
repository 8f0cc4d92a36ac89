/** The tiling of a span: the fewest windows and roll-ups that make it up, in one SQL statement. */

import { LEVELS, spanNs, TIERS } from "./levels.ts";

/** Length of the pieces of each level; that of a window as it came does not count. */
const LENGTHS = [[0, 1n], ...LEVELS.map((level) => [level, spanNs(level)])];

/** The instant, or the last one before it at which downsampled roll-ups can be cut. */
function cutAt(instant: string): string {
  const cases = TIERS.toReversed().map(({ column, kept }) =>
    `WHEN ${instant} < ${column} THEN ${instant} / ${spanNs(kept)} * ${spanNs(kept)}`
  );
  return `CASE ${cases.join(" ")} ELSE ${instant} END`;
}

/**
 * Common table expressions of the pieces, of a level below `:below`, that tile `(:start_ns, :end_ns]`
 * of `:instance`, in `tile`, and of the span that they tile, in `span`. Each piece is the one that starts
 * first after the previous one, and the longest of these: the fewest pieces, by few index look-ups each.
 */
export const TILING = `WITH RECURSIVE
  levels (level, length_ns) AS (VALUES ${LENGTHS.map(([level, ns]) => `(${level}, ${ns})`)}),
  span (start_ns, end_ns) AS (
    SELECT ${cutAt(":start_ns")}, ${cutAt(":end_ns")} FROM instances WHERE id = :instance
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
