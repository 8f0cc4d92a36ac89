/** Statements that store a window; each depends on the changes of the one before it. */

import { LEVELS } from "./levels.ts";
import { IS_PASSED } from "./passed.ts";

/** The instance of the arguments. */
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

/** Adds an instance, unless it is there. */
export const INSERT_INSTANCE = `INSERT INTO instances (project, instance_id, key, tags, attributes,
    profiler_version, start_ns, watermark_ns, last_seen_ns, received_ns, listed_ns, rolled_ns, due_ns)
  VALUES (:project, :instance_id, :key, :tags, :attributes, :profiler_version, :start_ns, :start_ns,
    :to_ns, :received_ns, min(:start_ns, :received_ns), :start_ns, :due_ns)
  ON CONFLICT DO NOTHING`;

/** Inserts a window after the newest one: nothing that is stored can overlap it, or be summed up without it. */
export const INSERT_FOLLOWING = `/* insert the window */ INSERT INTO windows
    (instance, level, end_ns, from_ns, to_ns, received_ns, digest, block, body)
  SELECT i.id, 0, :to_ns, :from_ns, :to_ns, :received_ns, :digest, b.id, :body FROM instances i
  JOIN blocks b ON b.instance = i.id AND b.hash = :hash
  WHERE i.id = :instance AND ${THIS_INSTANCE} AND start_ns = :start_ns
    AND watermark_ns = :from_ns AND last_seen_ns = :from_ns AND final_ns IS NULL
    AND i.received_ns > :silent_ns
    AND NOT ${IS_PASSED}`;

/** Notes a window that follows the newest one. `changes() > 0`, here and below: only if it was new. */
export const UPDATE_FOLLOWED = `UPDATE instances SET
    received_ns = :received_ns, final_ns = :final_ns, ended_ns = :ended_ns,
    watermark_ns = :to_ns, last_seen_ns = :to_ns,
    key = :key, tags = :tags, attributes = :attributes, profiler_version = :profiler_version,
    due_ns = min(due_ns, :due_ns)
  WHERE id = :instance AND changes() > 0`;

/** Inserts a window that overlaps none, and contradicts nothing. */
export const INSERT_WINDOW = `/* insert the window */ INSERT INTO windows
    (instance, level, end_ns, from_ns, to_ns, received_ns, digest, block, body)
  SELECT i.id, 0, :to_ns, :from_ns, :to_ns, :received_ns, :digest, b.id, :body FROM instances i
  JOIN blocks b ON b.instance = i.id AND b.hash = :hash
  WHERE ${THIS_INSTANCE} AND start_ns = :start_ns AND downsampled_ns < :to_ns
    AND (watermark_ns <= :from_ns OR ${IS_PASSED})
    AND (final_ns IS NULL OR :to_ns <= final_ns)
    AND (:final_ns IS NULL OR last_seen_ns <= :to_ns)
    AND coalesce((${ofNextWindow("from_ns")}) >= :to_ns, TRUE)`;

/** Notes a window that may be anywhere in the chain. */
export const UPDATE_INSTANCE = `UPDATE instances SET
    received_ns = :received_ns,
    final_ns = coalesce(final_ns, :final_ns),
    ended_ns = coalesce(ended_ns, :ended_ns),
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
  WHERE ${THIS_INSTANCE} AND changes() > 0`;

/** Removes the roll-ups of longer spans, which lack the window. */
export const DELETE_ROLLUPS = `DELETE FROM windows
  WHERE instance = (SELECT id FROM instances WHERE ${THIS_INSTANCE})
    AND (level, end_ns) IN (VALUES ${LEVELS.map((level) => `(${level}, :end_${level}_ns)`)})
    AND level > :row_level AND changes() > 0`;

/** The roll-up of a span. */
export const ROLLUP = `SELECT w.id, w.level, w.from_ns, w.to_ns, w.digest, w.body, w.block, b.hash
  FROM windows w LEFT JOIN blocks b ON b.id = w.block
  WHERE w.instance = :instance AND level = :level AND end_ns = :end_ns`;

/** Replaces a roll-up that is still the same. */
export const REPLACE_ROLLUP = `UPDATE windows SET from_ns = :row_from_ns, to_ns = :row_to_ns,
    received_ns = :received_ns, digest = :row_digest, body = :body
  WHERE instance = :instance AND level = :level AND end_ns = :end_ns AND digest = :old_digest`;

/** Inserts a roll-up where there is none. */
export const INSERT_ROLLUP = `INSERT INTO windows
    (instance, level, end_ns, from_ns, to_ns, received_ns, digest, block, body)
  SELECT :instance, :level, :end_ns, :row_from_ns, :row_to_ns, :received_ns, :row_digest, id, :body
  FROM blocks WHERE instance = :instance AND hash = :row_hash
  ON CONFLICT DO NOTHING`;

/** Notes a window that was added to a roll-up. */
export const UPDATE_LATE = `UPDATE instances SET received_ns = :received_ns,
    rolled_ns = min(rolled_ns, :from_ns), due_ns = min(due_ns, :due_ns)
  WHERE ${THIS_INSTANCE} AND changes() > 0`;

/** The state of an instance. */
export const STATE_AFTER = `SELECT watermark_ns, last_seen_ns, id AS instance FROM instances
  WHERE ${THIS_INSTANCE}`;

/** The state of an instance, with what may be the reason that a window was not stored. */
export const STATE =
  `SELECT i.id AS instance, i.start_ns, i.watermark_ns, i.last_seen_ns, i.downsampled_ns,
    i.downsampled_minutes_ns, w.from_ns, w.to_ns, w.digest, ${IS_PASSED} AS is_passed,
    EXISTS (SELECT 1 FROM blocks WHERE instance = i.id AND hash = :hash) AS has_block
  FROM instances i
  LEFT JOIN windows w ON w.from_ns < :to_ns AND w.id = (${ofNextWindow("id")})
  WHERE ${THIS_INSTANCE}`;
