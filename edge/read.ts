import { gunzipSync } from "node:zlib";
import {
  absorb,
  decode,
  emptyWindow,
  errorEntry,
  list,
  MAX_ERRORS,
  newest,
  uploadShape,
  type Window,
} from "@service/core";
import { type Database, statement } from "./database.ts";
import { gapsIn, type Stretch, warningOf } from "./gaps.ts";
import type { StoredInstance } from "./instance.ts";
import type { Span } from "./span.ts";

/**
 * The merge of all windows that end in the span, with the newest errors up to its end and a warning
 * for what never arrived: one round trip.
 */
export async function readWindow(
  db: Database,
  instance: StoredInstance,
  { start_ns, payload_ns }: Span,
): Promise<Window> {
  const args = { instance: instance.id, start_ns, payload_ns, max_errors: MAX_ERRORS };
  const [windows, next, errors] = await db.read([
    statement(WINDOWS_IN_SPAN, args),
    statement(NEXT_WINDOW, args),
    statement(NEWEST_ERRORS, args),
  ]);
  const merged = emptyWindow(start_ns);
  for (const [i, { body }] of windows!.rows.entries()) {
    if (i % WINDOWS_AT_ONCE === WINDOWS_AT_ONCE - 1) await othersTurn();
    absorb(merged, unpack(body as ArrayBuffer));
  }
  merged.errors = newest(
    errors!.rows.flatMap(({ errors }) => entries.check(decode(errors as string))),
  );
  const spans = windows!.rows as unknown as Stretch[];
  const after_ns = next!.rows[0]?.from_ns as bigint | undefined ?? spans.at(-1)?.to_ns ?? 0n;
  const gaps = gapsIn(spans, {
    from_ns: start_ns > instance.start_ns ? start_ns : instance.start_ns,
    to_ns: after_ns < payload_ns ? after_ns : payload_ns,
  });
  if (gaps.length > 0) merged.errors.push(warningOf(gaps, payload_ns));
  return merged;
}

/** Windows that are merged before other requests get their turn. */
const WINDOWS_AT_ONCE = 16;

const WINDOWS_IN_SPAN = `SELECT from_ns, to_ns, body FROM windows
  WHERE instance = :instance AND to_ns > :start_ns AND to_ns <= :payload_ns ORDER BY to_ns`;

/** Where the first window after the span starts: possibly inside it, which is no gap then. */
const NEXT_WINDOW = `SELECT from_ns FROM windows
  WHERE instance = :instance AND to_ns > :payload_ns ORDER BY to_ns LIMIT 1`;

/** Rows with errors, the newest, until they hold enough. */
const NEWEST_ERRORS = `SELECT errors FROM windows WHERE instance = :instance AND to_ns IN (
  SELECT to_ns FROM (
    SELECT to_ns, sum(error_count) OVER (ORDER BY to_ns DESC) - error_count AS newer FROM windows
    WHERE instance = :instance AND to_ns <= :payload_ns AND error_count > 0
    ORDER BY to_ns DESC LIMIT :max_errors
  ) WHERE newer < :max_errors
)`;

const entries = list(errorEntry);
const utf8 = new TextDecoder();

function unpack(body: ArrayBuffer): Window {
  return uploadShape.check(decode(utf8.decode(gunzipSync(body)))).window;
}

function othersTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
