/** The upload body: one window of one instance, as the profiler sends it and the service takes it. */

import { entriesOf } from "./entries.ts";
import { encode } from "./json.ts";
import { kindOf, type Series } from "./series/mod.ts";
import type { Tags } from "./tags.ts";
import type { Window } from "./window.ts";

/** One upload: a window, and of which instance it is. */
export interface Upload {
  /** 12 hex digits; the tag `instance.id`. */
  instance_id: string;
  /** Version of the profiler that measured. */
  profiler_version: string;
  /** The instance start, where its first window starts; epoch nanoseconds. */
  start_ns: bigint;
  /** Tags of the instance. */
  tags: Tags;
  /** Attributes of the instance, such as `process.command_line`. */
  attributes: Tags;
  /** Whether this is the instance's last window. */
  final: boolean;
  /** What changed since the window before it. */
  window: Window;
}

/** Body of an upload: JSON text. */
export function encodeUpload({ window, ...rest }: Upload): string {
  return encode({ ...rest, window: windowBody(window) });
}

/** JSON text of a window, as an upload holds it and as the service may store it. */
export function encodeWindow(window: Window): string {
  return encode(windowBody(window));
}

/** A window as JSON has it: maps become arrays. */
function windowBody(window: Window): unknown {
  const { from_ns, to_ns } = window;
  return {
    from_ns,
    to_ns,
    series: Array.from(window.series.values(), (series) => seriesBody(series, to_ns)),
    resources: [...window.resources.values()],
    ...entriesOf(window),
  };
}

/** Most series were updated at the end of the window: that is not repeated for each. */
function seriesBody(series: Series, to_ns: bigint): unknown {
  const { name, type, tags, updated_ns } = series;
  const values = kindOf(series).body(series);
  return updated_ns === to_ns
    ? { name, type, tags, ...values }
    : { name, type, tags, updated_ns, ...values };
}
