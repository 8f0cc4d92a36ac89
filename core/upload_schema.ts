/** Upload schema: the check of an upload's body, and its JSON Schema. */

import { type Entries, uploadedEntries } from "./entries.ts";
import type { Interval } from "./gaps.ts";
import { MAX_RESOURCES, MAX_SERIES } from "./limits.ts";
import { open } from "./open_schema.ts";
import { resource } from "./payload_schema.ts";
import {
  type Fields,
  flag,
  integer,
  list,
  mapped,
  nanoseconds,
  object,
  type Shape,
  text,
  variants,
} from "./schema.ts";
import { ShapeError } from "./schema_error.ts";
import { kinds, type Series, seriesKey, type Uploaded } from "./series/mod.ts";
import { type Upload, UPLOAD_FORMAT } from "./upload.ts";
import { tags } from "./value_schema.ts";
import { type Resource, resourceKey, type Window } from "./window.ts";

const series: Shape<Uploaded<Series>> = variants<Uploaded<Series>>(
  "type",
  Object.fromEntries(Object.entries(kinds).map(([type, { shape }]) => [type, shape])),
);

interface WindowBody extends Entries {
  from_ns: bigint;
  to_ns: bigint;
  series: Map<string, Uploaded<Series>>;
  resources: Map<string, Resource>;
}

const windowShape: Shape<Window> = mapped(
  object<WindowBody>({
    from_ns: nanoseconds,
    to_ns: nanoseconds,
    series: mapped(
      list(series, { max: MAX_SERIES }),
      (series) => byKey(series, seriesKey),
    ),
    resources: mapped(
      list(resource, { max: MAX_RESOURCES }),
      (resources) => byKey(resources, resourceKey),
    ),
    ...uploadedEntries,
  }),
  (window) => {
    if (window.to_ns <= window.from_ns) {
      throw new ShapeError("to_ns", `must be after from_ns (${window.from_ns})`);
    }
    for (const series of window.series.values()) series.updated_ns ??= window.to_ns;
    return window as Window;
  },
);

/** The fields of an instance: all of an upload that is not its window. */
export const instanceFields: Fields<Omit<Upload, "window" | "final" | "ended_ns">> = {
  instance_id: text({ pattern: "[0-9a-f]{12}" }),
  profiler_version: text({ min: 1, max: 100 }),
  start_ns: nanoseconds,
  tags,
  attributes: tags,
};

/** One upload; members that it does not know are ignored, at every level. */
export const uploadShape: Shape<Upload> = open(mapped(
  object<Upload & { format?: number }>({
    format: integer(UPLOAD_FORMAT, UPLOAD_FORMAT),
    ...instanceFields,
    final: flag,
    ended_ns: nanoseconds,
    window: windowShape,
  }, ["format", "ended_ns"]),
  ({ format: _, ...upload }) => {
    if (upload.window.from_ns < upload.start_ns) {
      throw new ShapeError(
        "window.from_ns",
        `must not be before start_ns (${upload.start_ns})`,
      );
    }
    expectEnd(upload);
    return upload;
  },
));

/**
 * Expects the end of an upload's workload, if it is given, to be one.
 *
 * @throws {ShapeError} If it is not.
 */
export function expectEnd(
  { ended_ns, final, start_ns, window: { to_ns } }: Omit<Upload, "window"> & { window: Interval },
): void {
  if (ended_ns === undefined) return;
  if (!final) throw new ShapeError("ended_ns", "must be in the last window only");
  if (ended_ns >= start_ns && ended_ns <= to_ns) return;
  throw new ShapeError("ended_ns", `must be from start_ns (${start_ns}) to to_ns (${to_ns})`);
}

/** The items by their keys, which must all differ. */
function byKey<T>(items: readonly T[], key: (item: T) => string): Map<string, T> {
  const map = new Map<string, T>();
  for (const item of items) {
    const size = map.size;
    map.set(key(item), item);
    if (map.size === size) {
      throw new ShapeError(`[${size}]`, "has the same identity as one before it");
    }
  }
  return map;
}
