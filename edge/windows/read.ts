/** Reads of one instance: the merge of its windows in a span. */

import type { ErrorEntry, Window } from "@service/core";
import { gapsIn, warningOf } from "@service/core/gaps";
import { secondsFromNs } from "@service/core/time";
import { type Database, statement } from "../database/database.ts";
import { absorbStored, readingNewest } from "./entries.ts";
import type { StoredInstance } from "./instance.ts";
import { mergePieces, PIECES } from "./pieces.ts";
import type { Span } from "./span.ts";
import { ANY_LEVEL, TILING } from "./tiling.ts";

/**
 * The merge of all windows that end in the span, with the newest entries up to its end, and warnings of
 * gaps and of roll-ups that are too coarse to be cut at the ends of the span: one round trip.
 */
export async function readWindow(
  db: Database,
  instance: StoredInstance,
  span: Span,
): Promise<Window> {
  const { start_ns, payload_ns } = span;
  const args = {
    instance: instance.id,
    start_ns,
    end_ns: payload_ns,
    below: ANY_LEVEL,
    limit: -1,
  };
  const [pieces, around, ...entries] = await db.read([
    statement(PIECES, args),
    statement(AROUND, args),
    ...readingNewest(args),
  ]);
  const { window, intervals } = await mergePieces(pieces!.rows, { start_ns });
  absorbStored(window, entries);
  const tiled = around!.rows[0]! as unknown as Around;
  const after_ns = tiled.next_ns ?? intervals.at(-1)?.to_ns ?? 0n;
  const gaps = gapsIn(intervals, {
    from_ns: tiled.start_ns > instance.start_ns ? tiled.start_ns : instance.start_ns,
    to_ns: after_ns < tiled.end_ns ? after_ns : tiled.end_ns,
  });
  if (gaps.length > 0) window.errors.push(warningOf(gaps, payload_ns));
  if (tiled.start_ns !== start_ns || tiled.end_ns !== payload_ns) {
    window.errors.push(coarser(tiled, payload_ns));
  }
  return window;
}

/** The span to which roll-ups can be cut, and the start of the first window after it. */
interface Around {
  start_ns: bigint;
  end_ns: bigint;
  /** May be inside the span: then its end is not a gap. */
  next_ns: bigint | null;
}

const AROUND = `${TILING} SELECT start_ns, end_ns, (
    SELECT min(w.from_ns) FROM levels l JOIN windows w ON w.id = (
      SELECT id FROM windows WHERE instance = :instance AND level = l.level
        AND end_ns >= span.end_ns + l.length_ns ORDER BY end_ns LIMIT 1
    ) WHERE l.level < :below
  ) AS next_ns FROM span`;

function coarser({ start_ns, end_ns }: Around, log_ns: bigint): ErrorEntry {
  return {
    level: "warning",
    message: `what is this old is kept in longer steps: the totals are those from ` +
      `${secondsFromNs(start_ns)} to ${secondsFromNs(end_ns)} (epoch seconds)`,
    exception: "",
    log_ns,
  };
}
