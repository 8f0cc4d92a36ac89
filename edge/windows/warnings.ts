/** Warnings: what reads say of missing, late and damaged windows, of coarse steps and of wrong clocks. */

import type { ErrorEntry } from "@service/core";
import { damageWarningOf, type Interval, warningOf } from "@service/core/gaps";
import { SECOND_NS, secondsFromNs, wholeSecond } from "@service/core/time";
import type { Result, Row } from "../database/database.ts";
import type { FoundInstance } from "./instance.ts";
import { GAP_PATIENCE_NS } from "./passed.ts";
import type { Span } from "./span.ts";

/** A clock that is ahead by less than this is not spoken of. */
const AHEAD_NS = 60n * SECOND_NS;

/** What is known of a span once it was read. */
export interface ReadParts {
  span: Span;
  /** What is to be said of it before it is read. */
  said: ErrorEntry[];
  /** The span that the windows tile: another one where only longer roll-ups are kept. */
  tiled: Interval;
  /** The parts of it that never arrived. */
  missing: Interval[];
  /** The spans of windows that are stored and cannot be read. */
  damaged: Interval[];
}

/** Warnings of parts that are missing, and of roll-ups too long to be cut at the ends of the span. */
export function warningsOf({ span, said, tiled, missing, damaged }: ReadParts): ErrorEntry[] {
  const { start_ns, payload_ns } = span;
  const isWhole = tiled.from_ns === start_ns && tiled.to_ns === payload_ns;
  return [
    ...(missing.length > 0 ? [warningOf(missing, payload_ns)] : []),
    ...(damaged.length > 0 ? [damageWarningOf(damaged, payload_ns)] : []),
    ...(isWhole ? [] : [coarser(tiled, payload_ns)]),
    ...said,
  ];
}

/** Warnings of what is known before a read: that it waits, and of a clock that is ahead. */
export function warningsBefore(
  instance: FoundInstance,
  { payload_ns, waits }: Span,
): ErrorEntry[] {
  return [
    ...(waits ? waitingWarning(instance, payload_ns) : []),
    ...aheadWarning(instance, payload_ns),
  ];
}

/** The warning of a clock that is ahead of the service's. */
function aheadWarning({ last_seen_ns, received_ns }: FoundInstance, log_ns: bigint): ErrorEntry[] {
  if (last_seen_ns - received_ns < AHEAD_NS) return [];
  return [{
    level: "warning",
    message: `the clock of the instance is ahead: a window that ends at ` +
      `${secondsFromNs(last_seen_ns)} had arrived by ${secondsFromNs(received_ns)} (epoch seconds)`,
    exception: "",
    log_ns,
  }];
}

/** What {@linkcode readingLate} read, as warnings. */
export function lateWarnings({ instance_id }: FoundInstance, { rows }: Result): ErrorEntry[] {
  return rows.toReversed().map((row) => lateWarning(instance_id, row));
}

function lateWarning(instance_id: string, { late_from_ns, late_to_ns, late_ns }: Row): ErrorEntry {
  const from = secondsFromNs(late_from_ns as bigint);
  const to = secondsFromNs(late_to_ns as bigint);
  return {
    level: "warning",
    message: `windows between ${from} and ${to} (epoch seconds) arrived after reads had passed ` +
      `them: /api/v1/signals?instance_id=${instance_id}&start=${from}&end=${to} reads them`,
    exception: "",
    log_ns: late_ns as bigint,
  };
}

/** The warning of a read that ends at a gap, since when and until when it does. */
export function waitingWarning(
  { watermark_ns, waiting }: FoundInstance,
  log_ns: bigint,
): ErrorEntry[] {
  if (!waiting) return [];
  const { to_ns, since_ns } = waiting;
  return [{
    level: "warning",
    message: `reads wait at ${secondsFromNs(watermark_ns)} for the windows up to ` +
      `${secondsFromNs(to_ns)}, since ${secondsFromNs(since_ns)} when a later one arrived, and ` +
      `pass them at ${secondsFromNs(wholeSecond(since_ns + GAP_PATIENCE_NS))} (epoch seconds)`,
    exception: "",
    log_ns,
  }];
}

function coarser({ from_ns, to_ns }: Interval, log_ns: bigint): ErrorEntry {
  return {
    level: "warning",
    message: `what is this old is kept in longer steps: the totals are those from ` +
      `${secondsFromNs(from_ns)} to ${secondsFromNs(to_ns)} (epoch seconds)`,
    exception: "",
    log_ns,
  };
}
