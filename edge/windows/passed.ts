/**
 * Passed spans: those that reads could pass before their windows had come. A gap is passed when the
 * window behind it has been there for ten minutes; a day of silence, up to the window that ends it.
 */

import { SECOND_NS, wholeSecond } from "@service/core/time";
import { type Database, type Statement, statement, type Value } from "../database/database.ts";
import { findInstances, type FoundInstance } from "./instance.ts";
import { SILENCE_NS } from "./span.ts";

/** How long a gap is waited for, from the arrival of the window behind it. */
export const GAP_PATIENCE_NS: bigint = 600n * SECOND_NS;

/** Late windows are told of in this many entries at most: the newest. */
const MAX_LATE = 20;

/** An instance, and the time. */
export interface PassingOptions {
  /** Row id of the project. */
  project: bigint;
  instance_id: string;
  now_ns: bigint;
}

/** The statements that pass the gaps of an instance that were waited for long enough. */
export function passing({ now_ns, ...name }: PassingOptions): Statement[] {
  const args = { ...name, now_ns, before_ns: now_ns - GAP_PATIENCE_NS };
  return [statement(NOTE_GAPS, args), statement(MOVE_WATERMARK, args)];
}

/** The statement that notes, before a new window of an instance, the silence that it ends. */
export function notingSilence({ now_ns, ...name }: PassingOptions): Statement {
  const silent_ns = now_ns - SILENCE_NS;
  return statement(NOTE_SILENCE, { ...name, now_ns, silent_ns, until_ns: wholeSecond(now_ns) });
}

/** The statement that reads the spans in which windows came late, of `(after_ns, end_ns]` by receipt. */
export function readingLate(
  span: { instance: bigint; after_ns: bigint; end_ns: bigint },
): Statement {
  return statement(LATE, { ...span, max: MAX_LATE });
}

/** The project's instances of these ids, by id, as reads need them: with due gaps passed. */
export async function findToRead(
  db: Database,
  project: { id: bigint; name: string },
  { ids, now_ns }: { ids: readonly string[]; now_ns: bigint },
): Promise<Map<string, FoundInstance>> {
  const found = await findInstances(db, project, ids);
  const due = [...found.values()].filter((instance) => isDue(instance, now_ns));
  if (due.length === 0) return found;
  const statements = due.flatMap(({ instance_id }) =>
    passing({ project: project.id, instance_id, now_ns })
  );
  try {
    await db.write(statements);
  } catch {
    // Reads are answered where nothing can be written: they wait on.
    return found;
  }
  return await findInstances(db, project, ids);
}

function isDue({ waiting }: FoundInstance, now_ns: bigint): boolean {
  return waiting !== null && now_ns - waiting.since_ns >= GAP_PATIENCE_NS;
}

/** The first window behind an instant of the instance `i`. */
function windowBehind(instant: string): string {
  return `SELECT id FROM windows WHERE instance = i.id AND level = 0
    AND end_ns > ${instant} ORDER BY end_ns LIMIT 1`;
}

/** Links of the chain from the watermark on: over gaps too where the window behind is old enough. */
const CHAIN = `WITH RECURSIVE chain (instance, from_ns, to_ns, end_ns) AS (
    SELECT id, watermark_ns, watermark_ns, watermark_ns FROM instances i
      WHERE project = :project AND instance_id = :instance_id AND last_seen_ns > watermark_ns
    UNION ALL
    SELECT i.id, chain.end_ns, w.from_ns, w.to_ns FROM chain JOIN instances i ON i.id = chain.instance
      JOIN windows w ON w.id = (${windowBehind("chain.end_ns")})
        AND (w.from_ns <= chain.end_ns OR w.received_ns <= :before_ns)
  )`;

/** End of the last passed span: they follow one another, in the order of their ends too. */
function lastPassed(instance: string): string {
  return `coalesce((SELECT p.to_ns FROM passed p WHERE p.instance = ${instance}
    ORDER BY p.from_ns DESC LIMIT 1), 0)`;
}

const NOTE_GAPS = `INSERT INTO passed (instance, from_ns, to_ns, passed_ns)
  ${CHAIN} SELECT instance, max(from_ns, ${lastPassed("chain.instance")}), to_ns, :now_ns FROM chain
  WHERE from_ns < to_ns AND ${lastPassed("chain.instance")} < to_ns`;

const MOVE_WATERMARK = `UPDATE instances SET watermark_ns = chain.end_ns FROM (
    ${CHAIN} SELECT instance, max(end_ns) AS end_ns FROM chain GROUP BY instance
  ) chain WHERE id = chain.instance AND watermark_ns < chain.end_ns RETURNING watermark_ns`;

const NOTE_SILENCE = `INSERT INTO passed (instance, from_ns, to_ns, passed_ns)
  SELECT id, max(watermark_ns, ${lastPassed("i.id")}), :until_ns, :now_ns FROM instances i
  WHERE project = :project AND instance_id = :instance_id AND received_ns <= :silent_ns
    AND max(watermark_ns, ${lastPassed("i.id")}) < :until_ns AND watermark_ns IS NOT final_ns`;

/** The condition that the instant `:to_ns` of the instance `i` is in a passed span. */
export const IS_PASSED = `EXISTS (SELECT 1 FROM passed
  WHERE instance = i.id AND passed.from_ns < :to_ns AND passed.to_ns >= :to_ns)`;

/** The statements that note a late window, if it is in a row of windows that was stored with it. */
export function notingLate(
  args: Record<string, Value> & { row_level: number; row_end_ns: bigint; row_digest: Uint8Array },
): Statement[] {
  return [statement(NOTE_LATE, args), statement(COUNT_LATE, args)];
}

const NOTE_LATE = `UPDATE passed SET
    late_from_ns = min(coalesce(late_from_ns, :from_ns), :from_ns),
    late_to_ns = max(coalesce(late_to_ns, :to_ns), :to_ns),
    late_ns = :received_ns
  WHERE instance = (SELECT id FROM instances WHERE project = :project AND instance_id = :instance_id)
    AND from_ns < :to_ns AND to_ns >= :to_ns
    AND EXISTS (SELECT 1 FROM windows w WHERE w.instance = passed.instance AND level = :row_level
      AND end_ns = :row_end_ns AND digest = :row_digest AND received_ns = :received_ns)`;

const COUNT_LATE = `UPDATE instances SET late_windows = late_windows + 1
  WHERE project = :project AND instance_id = :instance_id AND changes() > 0`;

const LATE = `/* read the late spans */ SELECT * FROM passed
  WHERE instance = :instance AND late_ns > :after_ns AND late_ns <= :end_ns
  ORDER BY late_ns DESC LIMIT :max`;
