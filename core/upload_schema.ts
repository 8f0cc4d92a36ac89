/** The schema of the upload body: the check of what a profiler sent, and its JSON Schema. */

import { type Entries, uploadedEntries } from "./entries.ts";
import { MAX_RESOURCES, MAX_SERIES } from "./limits.ts";
import { resource } from "./payload_schema.ts";
import {
  flag,
  list,
  mapped,
  nanoseconds,
  object,
  type Shape,
  ShapeError,
  text,
  variants,
} from "./schema.ts";
import { kinds, type Series, seriesKey, type Uploaded } from "./series/mod.ts";
import type { Upload } from "./upload.ts";
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

/** One window, as an upload holds it. */
export const windowShape: Shape<Window> = mapped(
  object<WindowBody>({
    from_ns: nanoseconds,
    to_ns: nanoseconds,
    series: mapped(
      list(series, { max: MAX_SERIES }),
      (given) => keyed(given, seriesKey, (one) => one),
    ),
    resources: mapped(
      list(resource, { max: MAX_RESOURCES }),
      (given) => keyed(given, resourceKey, (one) => one),
    ),
    ...uploadedEntries,
  }),
  (window) => {
    if (window.to_ns <= window.from_ns) {
      throw new ShapeError("to_ns", `must be after from_ns (${window.from_ns})`);
    }
    for (const one of window.series.values()) one.updated_ns ??= window.to_ns;
    return window as Window;
  },
);

/** One upload. */
export const uploadShape: Shape<Upload> = mapped(
  object<Upload>({
    instance_id: text({ pattern: "[0-9a-f]{12}" }),
    profiler_version: text({ min: 1, max: 100 }),
    start_ns: nanoseconds,
    tags,
    attributes: tags,
    final: flag,
    window: windowShape,
  }),
  (upload) => {
    if (upload.window.from_ns < upload.start_ns) {
      throw new ShapeError(
        "window.from_ns",
        `must not be before start_ns (${upload.start_ns})`,
      );
    }
    return upload;
  },
);

/** A map of items that each must have a key of their own. */
function keyed<T, V>(
  items: readonly T[],
  key: (item: T) => string,
  made: (item: T) => V,
): Map<string, V> {
  const map = new Map<string, V>();
  for (const item of items) {
    const size = map.size;
    map.set(key(item), made(item));
    if (map.size === size) {
      throw new ShapeError(`[${size}]`, "has the same identity as one before it");
    }
  }
  return map;
}
