import { deflateRawSync, gunzipSync, inflateRawSync } from "node:zlib";
import {
  type Bins,
  type Buckets,
  decode,
  type FrameSum,
  type Resource,
  type Series,
  uploadShape,
  type Window,
} from "@service/core";
import {
  decodeIdentities,
  encodeIdentities,
  type Identities,
  identityOf,
  type Layout,
  resourceIdentityOf,
  type SeriesIdentity,
} from "./layout.ts";
import { ColumnReader, ColumnWriter } from "./pack_columns.ts";

/** First byte of a packed window. One that starts like gzip is an upload, as they once were stored. */
const FORMAT = 1;
const GZIP = 0x1f;

/** A third less time than the next level takes, for a tenth more bytes. */
const DEFLATE_LEVEL = 1;

/** A window in few bytes. */
export interface Packed {
  body: Uint8Array<ArrayBuffer>;
  /** What the window has and the layout has not: it lies in the body. */
  strangers: Identities;
}

/** Where and when a packed window belongs. */
export interface Packing {
  layout: Layout | null;
  from_ns: bigint;
  to_ns: bigint;
}

/** Values of a window in the order of a layout; its span and its errors are stored beside. */
export function pack(window: Window, layout: Layout): Packed {
  const out = new ColumnWriter();
  const writer = new Packer(layout);
  writer.window(out, window);
  const { strangers } = writer;
  const text = isEmpty(strangers) ? "" : encodeIdentities(strangers);
  return { body: frame(new TextEncoder().encode(text), out.bytes()), strangers };
}

/** The window that was packed, without its errors. */
export function unpack(body: Uint8Array, { layout, from_ns, to_ns }: Packing): Window {
  if (body[0] === GZIP) return { ...uploaded(body), errors: [] };
  if (body[0] !== FORMAT || !layout) {
    throw new RangeError("Cannot unpack a window: its format or its layout is not known");
  }
  const columns = inflateRawSync(body.subarray(1));
  const view = new DataView(columns.buffer, columns.byteOffset);
  const length = view.getUint32(0, true);
  const text = new TextDecoder().decode(columns.subarray(4, 4 + length));
  const whole = length === 0 ? layout : layout.with(decodeIdentities(text));
  const input = new ColumnReader(columns.subarray(4 + length));
  return {
    from_ns,
    to_ns,
    series: readAllSeries(input, whole, to_ns),
    resources: readResources(input, whole, to_ns),
    errors: [],
  };
}

const utf8 = new TextDecoder();

function uploaded(body: Uint8Array): Window {
  return uploadShape.check(decode(utf8.decode(gunzipSync(body)))).window;
}

function frame(text: Uint8Array, columns: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(4 + text.length + columns.length);
  new DataView(whole.buffer).setUint32(0, text.length, true);
  whole.set(text, 4);
  whole.set(columns, 4 + text.length);
  const deflated = deflateRawSync(whole, { level: DEFLATE_LEVEL });
  const body = new Uint8Array(1 + deflated.length);
  body[0] = FORMAT;
  body.set(deflated, 1);
  return body;
}

function isEmpty({ series, frames, resources }: Identities): boolean {
  return series.length + frames.length + resources.length === 0;
}

/** Writes one window; what the layout lacks gets the places behind it. */
class Packer {
  readonly strangers: Identities = { series: [], frames: [], resources: [] };
  readonly #layout: Layout;
  readonly #strangeFrames = new Map<string, number>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  window(out: ColumnWriter, { series, resources, to_ns }: Window): void {
    const placed = this.#series(series);
    writePlaces(out, placed.map(([place]) => place));
    const all = placed.map(([, one]) => one);
    for (const { updated_ns } of all) {
      out.value(updated_ns === to_ns ? 0 : plain(to_ns - updated_ns));
    }
    for (const one of all) if (one.type === "gauge") out.value(one.value);
    for (const one of all) if (one.type === "counter") out.value(one.total);
    writeHistograms(out, all.filter((one) => one.type === "histogram"));
    for (const one of all) if (one.type === "profile") this.#frames(out, one.frames);
    this.#resources(out, resources, to_ns);
  }

  #series(series: Window["series"]): [number, Series][] {
    const { identities: { series: known } } = this.#layout;
    const placed: [number, Series][] = [];
    for (const [key, one] of series) {
      const place = this.#layout.placeOfSeries(key, one) ??
        known.length + this.strangers.series.push(identityOf(one)) - 1;
      placed.push([place, one]);
    }
    return inPlace(placed);
  }

  #frames(out: ColumnWriter, frames: Map<string, FrameSum>): void {
    const placed: [number, FrameSum][] = [];
    for (const [name, sum] of frames) placed.push([this.#placeOfFrame(name), sum]);
    inPlace(placed);
    writePlaces(out, placed.map(([place]) => place));
    for (const [, { value }] of placed) out.value(value);
    for (const [, { samples }] of placed) out.value(samples);
  }

  #placeOfFrame(name: string): number {
    const known = this.#layout.placeOfFrame(name) ?? this.#strangeFrames.get(name);
    if (known !== undefined) return known;
    const { frames } = this.strangers;
    const place = this.#layout.identities.frames.length + frames.push(name) - 1;
    this.#strangeFrames.set(name, place);
    return place;
  }

  #resources(out: ColumnWriter, resources: Window["resources"], to_ns: bigint): void {
    const { identities: { resources: known } } = this.#layout;
    const placed: [number, Resource][] = [];
    for (const [key, one] of resources) {
      const place = this.#layout.placeOfResource(key, one) ??
        known.length + this.strangers.resources.push(resourceIdentityOf(one)) - 1;
      placed.push([place, one]);
    }
    inPlace(placed);
    writePlaces(out, placed.map(([place]) => place));
    for (const [, { last_seen_ts }] of placed) out.value(seconds(to_ns) - last_seen_ts);
  }
}

/** Sorted; mostly it is so already. */
function inPlace<T>(placed: [number, T][]): [number, T][] {
  const isSorted = placed.every(([place], i) => i === 0 || place > placed[i - 1]![0]);
  return isSorted ? placed : placed.sort(byPlace);
}

function byPlace([a]: [number, unknown], [b]: [number, unknown]): number {
  return a - b;
}

/** Ascending: steps of one where nothing is missing. */
function writePlaces(out: ColumnWriter, places: number[]): void {
  out.natural(places.length);
  let before = -1;
  for (const place of places) {
    out.natural(place - before);
    before = place;
  }
}

function readPlaces(input: ColumnReader): number[] {
  const places = new Array<number>(input.natural());
  let place = -1;
  for (let i = 0; i < places.length; i++) places[i] = place += input.natural();
  return places;
}

type Histogram = Series & { type: "histogram" };

function writeHistograms(out: ColumnWriter, all: Histogram[]): void {
  for (const { count } of all) out.value(count);
  for (const { sum } of all) out.value(sum);
  for (const { min } of all) out.value(min);
  for (const { max } of all) out.value(max);
  for (const { buckets } of all) if (buckets) writeBuckets(out, buckets);
}

function writeBuckets(out: ColumnWriter, buckets: Buckets): void {
  if ("bounds" in buckets) {
    for (const times of buckets.counts) out.natural(times);
    return;
  }
  const sorted = inPlace([...buckets.bins]);
  out.natural(sorted.length);
  let before = 0;
  for (const [index] of sorted) {
    out.step(index - before);
    before = index;
  }
  for (const [, times] of sorted) out.natural(times);
}

function readBuckets(input: ColumnReader, kind: SeriesIdentity["buckets"]): Buckets | null {
  if (!kind) return null;
  if (kind !== "bins") {
    return { bounds: kind, counts: Array.from({ length: kind.length + 1 }, () => input.natural()) };
  }
  const indexes = new Array<number>(input.natural());
  let index = 0;
  for (let i = 0; i < indexes.length; i++) indexes[i] = index += input.step();
  const bins: Bins = new Map();
  for (const one of indexes) bins.set(one, input.natural());
  return { bins };
}

function readAllSeries(input: ColumnReader, layout: Layout, to_ns: bigint): Map<string, Series> {
  const places = readPlaces(input);
  const all = places.map((place) => {
    const { name, type, tags } = layout.identities.series[place]!;
    const late = input.value<number | bigint>();
    const updated_ns = late === 0 ? to_ns : to_ns - BigInt(late);
    return blank[type]({ name, tags, updated_ns });
  });
  for (const one of all) if (one.type === "gauge") one.value = input.value();
  for (const one of all) if (one.type === "counter") one.total = input.value();
  for (const one of all) if (one.type === "histogram") one.count = input.value();
  for (const one of all) if (one.type === "histogram") one.sum = input.value();
  for (const one of all) if (one.type === "histogram") one.min = input.value();
  for (const one of all) if (one.type === "histogram") one.max = input.value();
  all.forEach((one, i) => {
    if (one.type !== "histogram") return;
    one.buckets = readBuckets(input, layout.identities.series[places[i]!]!.buckets);
  });
  for (const one of all) if (one.type === "profile") one.frames = readFrames(input, layout);
  return new Map(all.map((one, i) => [layout.seriesKeys[places[i]!]!, one]));
}

type Identity = Pick<Series, "name" | "tags" | "updated_ns">;

const blank: Record<Series["type"], (identity: Identity) => Series> = {
  gauge: ({ name, tags, updated_ns }) => ({ name, type: "gauge", tags, updated_ns, value: 0 }),
  counter: ({ name, tags, updated_ns }) => ({ name, type: "counter", tags, updated_ns, total: 0 }),
  histogram: ({ name, tags, updated_ns }) => ({
    name,
    type: "histogram",
    tags,
    updated_ns,
    count: 0,
    sum: 0,
    min: null,
    max: null,
    buckets: null,
  }),
  profile: ({ name, tags, updated_ns }) => ({
    name,
    type: "profile",
    tags,
    updated_ns,
    frames: new Map(),
  }),
};

function readFrames(input: ColumnReader, layout: Layout): Map<string, FrameSum> {
  const frames = new Map<string, FrameSum>();
  for (const place of readPlaces(input)) {
    frames.set(layout.identities.frames[place]!, { value: 0, samples: 0 });
  }
  for (const sum of frames.values()) sum.value = input.value();
  for (const sum of frames.values()) sum.samples = input.value();
  return frames;
}

function readResources(input: ColumnReader, layout: Layout, to_ns: bigint): Map<string, Resource> {
  return new Map(
    readPlaces(input).map((place) => [layout.resourceKeys[place]!, {
      ...layout.identities.resources[place]!,
      last_seen_ts: seconds(to_ns) - input.value<number>(),
    }]),
  );
}

function seconds(ns: bigint): number {
  return Number(ns / 1_000_000_000n);
}

/** As a number where one holds it. */
function plain(ns: bigint): number | bigint {
  const near = Number(ns);
  return Number.isSafeInteger(near) ? near : ns;
}
