/** The schema of the upload body: the check of what a profiler sent, and its JSON Schema. */

import { type Bins, isBinIndex } from "./bins.ts";
import type { Bounds } from "./bounds.ts";
import {
  MAX_BINS,
  MAX_BUCKETS,
  MAX_ERRORS,
  MAX_FRAMES,
  MAX_RESOURCES,
  MAX_SERIES,
} from "./limits.ts";
import { double, errorEntry, name, resource, tags, value } from "./payload_schema.ts";
import {
  flag,
  list,
  mapped,
  nanoseconds,
  nullable,
  object,
  oneOf,
  type Shape,
  ShapeError,
  text,
  variants,
  whole,
} from "./schema.ts";
import { isSum, type Sum } from "./sum.ts";
import type { Upload } from "./upload.ts";
import {
  type Buckets,
  type CounterSeries,
  type ErrorEntry,
  type FrameSum,
  type GaugeSeries,
  type HistogramSeries,
  type ProfileSeries,
  type Resource,
  resourceKey,
  type Series,
  seriesKey,
  type Window,
} from "./window.ts";

const times = whole(0);

const sumParts = list(value, { min: 2 });

/** An exact sum: a number, or the parts of one that no double holds. */
const sum: Shape<Sum> = {
  schema: { anyOf: [value.schema, sumParts.schema] },
  check(given) {
    if (!Array.isArray(given)) return Number(value.check(given)) + 0;
    const parts = sumParts.check(given).map(Number);
    if (!isSum(parts)) {
      throw new ShapeError("", "must be a number, or the parts of an exact sum, largest first");
    }
    return parts;
  },
};

/** A sum of what cannot shrink. */
const increase = mapped(sum, (checked) => {
  const first = typeof checked === "number" ? checked : checked[0]!;
  if (first < 0) throw new ShapeError("", `must not be negative: got ${first}`);
  return checked;
});

interface BinsBody {
  kind: "bins";
  indexes: number[];
  counts: number[];
}

interface BoundsBody {
  kind: "bounds";
  bounds: number[];
  counts: number[];
}

const bins: Shape<Buckets> = mapped(
  object<BinsBody>({
    kind: oneOf("bins"),
    indexes: list(whole(-(2 ** 14), 2 ** 14), { max: MAX_BINS }),
    counts: list(times, { max: MAX_BINS }),
  }),
  ({ indexes, counts }) => {
    if (indexes.length !== counts.length) {
      throw new ShapeError(
        "counts",
        `must have one count for each of ${indexes.length} bins`,
      );
    }
    const made: Bins = new Map();
    indexes.forEach((index, i) => {
      if (!isBinIndex(index)) {
        throw new ShapeError(
          `indexes[${i}]`,
          `must be the index of a bin: got ${index}`,
        );
      }
      if (i > 0 && index <= indexes[i - 1]!) {
        throw new ShapeError(
          `indexes[${i}]`,
          "must be larger than the one before it",
        );
      }
      made.set(index, counts[i]!);
    });
    return { bins: made };
  },
);

const bounds: Shape<Buckets> = mapped(
  object<BoundsBody>({
    kind: oneOf("bounds"),
    bounds: list(double, { max: MAX_BUCKETS }),
    counts: list(times, { max: MAX_BUCKETS + 1 }),
  }),
  (given): Bounds => {
    if (given.counts.length !== given.bounds.length + 1) {
      throw new ShapeError(
        "counts",
        `must have a count for each of ${given.bounds.length} bounds and one above`,
      );
    }
    const unsorted = given.bounds.findIndex((bound, i) => i > 0 && bound <= given.bounds[i - 1]!);
    if (unsorted > 0) {
      throw new ShapeError(
        `bounds[${unsorted}]`,
        "must be larger than the one before it",
      );
    }
    return { bounds: given.bounds, counts: given.counts };
  },
);

interface FramesBody {
  names: string[];
  values: Sum[];
  samples: number[];
}

/** The names of a profile's frames. */
export const frameNames: Shape<string[]> = list(name, { max: MAX_FRAMES + 1 });

const frames: Shape<Map<string, FrameSum>> = mapped(
  object<FramesBody>({
    names: frameNames,
    values: list(sum, { max: MAX_FRAMES + 1 }),
    samples: list(times, { max: MAX_FRAMES + 1 }),
  }),
  ({ names, values, samples }) => {
    const made = new Map<string, FrameSum>();
    for (const [field, { length }] of Object.entries({ values, samples })) {
      if (length !== names.length) {
        throw new ShapeError(
          field,
          `must have one for each of ${names.length} names: got ${length}`,
        );
      }
    }
    names.forEach((name, i) => made.set(name, { value: values[i]!, samples: samples[i]! }));
    if (made.size < names.length) throw new ShapeError("names", "must all differ");
    return made;
  },
);

/** A series as an upload has it: without `updated_ns` where that is the end of the window. */
type Uploaded<T extends Series> = Omit<T, "updated_ns"> & { updated_ns?: bigint };

const identity = { name, tags, updated_ns: nanoseconds };

/** What tells a series from others. */
export const seriesIdentity: Shape<Pick<Series, "name" | "type" | "tags">> = object<
  Pick<Series, "name" | "type" | "tags">
>({ name, type: oneOf("gauge", "counter", "histogram", "profile"), tags });

const series: Shape<Uploaded<Series>> = variants<Uploaded<Series>>("type", {
  gauge: object<Uploaded<GaugeSeries>>(
    { ...identity, type: oneOf("gauge"), value },
    ["updated_ns"],
  ),
  counter: object<Uploaded<CounterSeries>>(
    { ...identity, type: oneOf("counter"), total: increase },
    ["updated_ns"],
  ),
  histogram: mapped(
    object<Uploaded<HistogramSeries>>({
      ...identity,
      type: oneOf("histogram"),
      count: times,
      sum,
      min: nullable(double),
      max: nullable(double),
      buckets: nullable(variants<Buckets>("kind", { bins, bounds })),
    }, ["updated_ns"]),
    (histogram) => {
      const { count, buckets } = histogram;
      if (buckets) {
        const counts = "bins" in buckets ? [...buckets.bins.values()] : buckets.counts;
        const inBuckets = counts.reduce((total, times) => total + times, 0);
        if (inBuckets !== count) {
          throw new ShapeError(
            "count",
            `must be the sum of its buckets' counts, ${inBuckets}: got ${count}`,
          );
        }
      }
      return histogram;
    },
  ),
  profile: object<Uploaded<ProfileSeries>>(
    { ...identity, type: oneOf("profile"), frames },
    ["updated_ns"],
  ),
});

interface WindowBody {
  from_ns: bigint;
  to_ns: bigint;
  series: Map<string, Uploaded<Series>>;
  resources: Map<string, Resource>;
  errors: ErrorEntry[];
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
    errors: list(errorEntry, { max: MAX_ERRORS }),
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
