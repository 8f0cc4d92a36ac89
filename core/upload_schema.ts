/** Upload schema: the check of an upload's body, and its JSON Schema. */

import { type Entries, uploadedEntries } from "./entries.ts";
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
export const instanceFields: Fields<Omit<Upload, "window" | "final">> = {
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
    window: windowShape,
  }, ["format"]),
  ({ format: _, ...upload }) => {
    if (upload.window.from_ns < upload.start_ns) {
      throw new ShapeError(
        "window.from_ns",
        `must not be before start_ns (${upload.start_ns})`,
      );
    }
    return upload;
  },
));

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
