/** Windows of the run by time: their source, and the parameters that name a span. */

import type { Interval } from "@service/core/gaps";
import { refuse } from "@service/core/problem";
import { duration, optional, type Parameter, seconds } from "@service/core/query";
import type { SpanWindow, SteppedSpan } from "@service/core/reader";
import type { Selection } from "@service/core/selection";

/** A source of the windows of the run. */
export interface WindowSource {
  /** The merge of the windows that end in the span. */
  read(span: Interval, selection?: Selection): Promise<SpanWindow>;
  /** The same for each step of the span; steps without windows are left out. */
  steps(span: SteppedSpan, selection?: Selection): AsyncIterable<SpanWindow>;
}

/** The span that a query names; nothing is everything since the instance start. */
export interface SpanQuery {
  start: bigint | undefined;
  end: bigint | undefined;
  seconds: bigint | undefined;
}

/** Parameters of `/signals` that name a span. */
export const spanParameters: { [Name in keyof SpanQuery]: Parameter<SpanQuery[Name]> } = {
  start: optional(
    seconds,
    "Epoch seconds, exclusive: where counters, histograms and profiles start. To follow the run, the " +
      "payload_ns / 1e9 of the previous read. Default: the instance start.",
  ),
  end: optional(seconds, "Epoch seconds, inclusive: the snapshot instant. Default: now."),
  seconds: optional(duration, "The last so many seconds, in place of start and end."),
};

/** The measured time of the run, and the present. */
export interface RunTime extends Interval {
  now_ns: bigint;
}

/**
 * The span that a query names, or `undefined` if it names none. Without `start` it is from the instance
 * start, as an answer without parameters is.
 *
 * @throws {Refusal} 400 if the query names two spans, or one that ends before it starts.
 */
export function spanOf(
  query: SpanQuery,
  { from_ns, to_ns, now_ns }: RunTime,
): Interval | undefined {
  const { start, end, seconds } = query;
  if (seconds !== undefined) {
    if (start !== undefined || end !== undefined) {
      throw refused("seconds", "must not be given together with start or end");
    }
    return { from_ns: to_ns > seconds ? to_ns - seconds : 0n, to_ns };
  }
  if (start === undefined && end === undefined) return undefined;
  const latest_ns = to_ns > now_ns ? to_ns : now_ns;
  const span = { from_ns: start ?? from_ns, to_ns: end ?? latest_ns };
  if (span.from_ns <= span.to_ns) return span;
  if (start === undefined) throw refused("end", "must not be before the instance start");
  throw refused(
    "start",
    end === undefined ? "must not be in the future" : "must not be after end",
  );
}

function refused(parameter: string, message: string) {
  return refuse(400, `Cannot read the window: ${parameter} ${message}`, [{ parameter, message }]);
}
