/** Uploads: one window of one instance as the profiler sends it. */

import { entriesOf } from "./entries.ts";
import type { Interval } from "./gaps.ts";
import { encode } from "./json.ts";
import { kindOf, type Series } from "./series/mod.ts";
import type { Tags } from "./tags.ts";
import { wholeSecond } from "./time.ts";
import type { Window } from "./window.ts";

/** The format of uploads in JSON. */
export const UPLOAD_FORMAT = 1;

/** One window and its instance. */
export interface Upload {
  /** 12 hex digits; the tag `instance.id`. */
  instance_id: string;
  /** Version of the profiler. */
  profiler_version: string;
  /** Start of the instance and of its first window, epoch nanoseconds. */
  start_ns: bigint;
  /** Tags of the instance. */
  tags: Tags;
  /** Attributes of the instance, such as `process.command_line`. */
  attributes: Tags;
  /** Whether this is the instance's last window. */
  final: boolean;
  /** When the workload ended: in the last window, whose own end is the whole second after it. */
  ended_ns?: bigint;
  /** Changes since the previous window. */
  window: Window;
}

/**
 * The body of an upload: JSON text. Windows end on whole seconds there: an end between two is rounded up,
 * with the start of the window after it, and that of the last window is given as `ended_ns`.
 */
export function encodeUpload({ window, ...rest }: Upload): string {
  const to_ns = wholeSecond(window.to_ns);
  const from_ns = window.from_ns === rest.start_ns ? rest.start_ns : wholeSecond(window.from_ns);
  return encode({
    format: UPLOAD_FORMAT,
    ...rest,
    ...(rest.final && to_ns !== window.to_ns && { ended_ns: rest.ended_ns ?? window.to_ns }),
    window: windowBody(window, { from_ns, to_ns }),
  });
}

/** A window for JSON: maps become arrays. */
function windowBody(window: Window, span: Interval): unknown {
  const { to_ns } = window;
  return {
    ...span,
    series: Array.from(window.series.values(), (series) => seriesBody(series, to_ns)),
    resources: [...window.resources.values()],
    ...entriesOf(window),
  };
}

/** A series for JSON, without `updated_ns` if that is the end of the window, as in most series. */
function seriesBody(series: Series, to_ns: bigint): unknown {
  const { name, type, tags, updated_ns } = series;
  const values = kindOf(series).body(series);
  return updated_ns === to_ns
    ? { name, type, tags, ...values }
    : { name, type, tags, updated_ns, ...values };
}
