import type { Row } from "@libsql/client";
import { type Database, statement } from "./database.ts";

/** One window of an instance, as it is stored. */
export interface WindowToStore {
  /** Row id of the project. */
  project: bigint;
  /** Name of the key it came with. */
  key: string;
  instance_id: string;
  profiler_version: string;
  /** JSON. */
  tags: string;
  /** JSON. */
  attributes: string;
  start_ns: bigint;
  from_ns: bigint;
  to_ns: bigint;
  final: boolean;
  /** The upload it came in, gzip. */
  body: Uint8Array<ArrayBuffer>;
  /** SHA-256 of the upload, inflated. */
  digest: Uint8Array<ArrayBuffer>;
  /** The window's errors once more: JSON, or `null` for none. */
  errors: string | null;
  error_count: number;
  /** By the clock of the service. */
  received_ns: bigint;
}

/** What became of a window. */
export type Outcome =
  | { stored: boolean; watermark_ns: bigint }
  | { conflict: "start_ns" | "window" | "final"; message: string };

/** Stores a window, unless it is stored already or contradicts what is: one round trip, all or nothing. */
export async function storeWindow(db: Database, window: WindowToStore): Promise<Outcome> {
  const { final, ...rest } = window;
  const args = { ...rest, final_ns: final ? window.to_ns : null };
  const results = await db.write(STATEMENTS.map((sql) => statement(sql, args)));
  const state = results.at(-1)!.rows[0]!;
  return results[1]!.rowsAffected > 0
    ? { stored: true, watermark_ns: state.watermark_ns as bigint }
    : unchanged(window, state);
}

/** Why nothing was stored. */
function unchanged({ start_ns, from_ns, to_ns, digest }: WindowToStore, state: Row): Outcome {
  const watermark_ns = state.watermark_ns as bigint;
  if (state.start_ns !== start_ns) {
    return {
      conflict: "start_ns",
      message: `must be that of the instance's other windows, ${state.start_ns}: got ${start_ns}`,
    };
  }
  if (state.from_ns !== null) {
    const sameSpan = state.from_ns === from_ns && state.to_ns === to_ns;
    if (sameSpan && equal(new Uint8Array(state.digest as ArrayBuffer), digest)) {
      return { stored: false, watermark_ns };
    }
    const stored = `(${state.from_ns}, ${state.to_ns}]`;
    return {
      conflict: "window",
      message: sameSpan
        ? `differs from the one stored for the span ${stored}`
        : `overlaps the one stored for the span ${stored}`,
    };
  }
  // Below the watermark all has come: what is not there any more was removed for its age.
  if (from_ns < watermark_ns) return { stored: false, watermark_ns };
  return {
    conflict: "final",
    message: "contradicts the instance's last window: none may lie after the final one",
  };
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

const THIS_INSTANCE = "project = :project AND instance_id = :instance_id";

/** Stored windows never overlap: only the first that ends after `from_ns` can overlap a new one. */
const NEXT_WINDOW = `SELECT from_ns FROM windows
  WHERE instance = i.id AND to_ns > :from_ns ORDER BY to_ns LIMIT 1`;

/** A late window says nothing new about the instance. */
const IF_NEWEST = (column: string) =>
  `${column} = iif(:to_ns >= last_seen_ns, :${column}, ${column})`;

/** `changes() > 0`: only if the window before was new. */
const STATEMENTS = [
  `INSERT INTO instances (project, instance_id, key, tags, attributes, profiler_version,
      start_ns, watermark_ns, last_seen_ns, received_ns)
    VALUES (:project, :instance_id, :key, :tags, :attributes, :profiler_version,
      :start_ns, :start_ns, :to_ns, :received_ns)
    ON CONFLICT DO NOTHING`,
  `INSERT INTO windows (instance, from_ns, to_ns, digest, body, errors, error_count)
    SELECT id, :from_ns, :to_ns, :digest, :body, :errors, :error_count FROM instances i
    WHERE ${THIS_INSTANCE} AND start_ns = :start_ns AND watermark_ns <= :from_ns
      AND (final_ns IS NULL OR :to_ns <= final_ns)
      AND (:final_ns IS NULL OR last_seen_ns <= :to_ns)
      AND coalesce((${NEXT_WINDOW}) >= :to_ns, TRUE)`,
  `UPDATE instances SET
      received_ns = :received_ns,
      final_ns = coalesce(final_ns, :final_ns),
      watermark_ns = (
        WITH RECURSIVE chain (end_ns) AS (
          SELECT instances.watermark_ns
          UNION ALL
          SELECT to_ns FROM windows, chain WHERE instance = instances.id AND from_ns = end_ns
        )
        SELECT max(end_ns) FROM chain
      ),
      ${IF_NEWEST("key")},
      ${IF_NEWEST("tags")},
      ${IF_NEWEST("attributes")},
      ${IF_NEWEST("profiler_version")},
      last_seen_ns = max(last_seen_ns, :to_ns)
    WHERE ${THIS_INSTANCE} AND changes() > 0`,
  `SELECT i.start_ns, i.watermark_ns, w.from_ns, w.to_ns, w.digest FROM instances i
    LEFT JOIN windows w ON w.instance = i.id AND w.from_ns < :to_ns AND w.from_ns = (${NEXT_WINDOW})
    WHERE ${THIS_INSTANCE}`,
];
