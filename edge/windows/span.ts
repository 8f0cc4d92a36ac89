/** The span of a read, which ends at the watermark while the instance may report. */

import { refuse } from "@service/core/problem";
import { earlier, later, wholeSecond } from "@service/core/time";
import type { StoredInstance } from "./instance.ts";
import { DAY_NS } from "./levels.ts";

/** Time without an upload after which reads wait for nothing. */
export const SILENCE_NS: bigint = DAY_NS;

/** The span of a read: `(start_ns, payload_ns]`. */
export interface Span {
  start_ns: bigint;
  /** The snapshot instant. */
  payload_ns: bigint;
  /** Whether it ends before it should, at the watermark. */
  waits?: boolean;
}

/** The span that a query names, and the time of the query. */
export interface SpanQuery {
  start_ns: bigint;
  end_ns?: bigint;
  now_ns: bigint;
}

/**
 * The span that a query is answered with: never past the watermark while the instance may still
 * report, so that a reader that continues from there misses nothing.
 *
 * @throws {Refusal} 400 if the query ends before it starts.
 */
export function spanOf(instance: StoredInstance, query: SpanQuery): Span {
  const { now_ns } = query;
  const { watermark_ns } = instance;
  const start_ns = instantMeant(query.start_ns);
  const end_ns = instantMeant(query.end_ns ?? later(wholeSecond(now_ns), watermark_ns));
  if (start_ns > end_ns) {
    const message = query.end_ns === undefined
      ? "must not be in the future"
      : "must not be after end";
    throw refuse(400, `Cannot read the window: start ${message}`, [{
      parameter: "start",
      message,
    }]);
  }
  const { final_ns, received_ns } = instance;
  const isSilent = now_ns - received_ns >= SILENCE_NS;
  const horizon_ns = isSilent ? later(watermark_ns, wholeSecond(now_ns)) : watermark_ns;
  const payload_ns = watermark_ns === final_ns ? end_ns : earlier(end_ns, horizon_ns);
  return { start_ns, payload_ns: later(start_ns, payload_ns), waits: payload_ns < end_ns };
}

/** Most that an instant can lose as seconds in a double, and in digits that are left out. */
const ROUNDING_NS = 1_000n;

/** An instant of a query: right below a whole second, where windows end, that second is meant. */
function instantMeant(ns: bigint): bigint {
  const second_ns = wholeSecond(ns);
  return second_ns - ns <= ROUNDING_NS ? second_ns : ns;
}
