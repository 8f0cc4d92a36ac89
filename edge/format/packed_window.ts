import { deflateRawSync, gunzipSync, inflateRawSync } from "node:zlib";
import {
  type Bins,
  type Buckets,
  decode,
  type FrameSum,
  type Resource,
  type Series,
  type Window,
} from "@service/core";
import { uploadShape } from "@service/core/upload_schema";
import {
  decodeIdentities,
  encodeIdentities,
  type Identities,
  identityOf,
  type Layout,
  resourceIdentityOf,
  type SeriesIdentity,
} from "./dictionary.ts";
import { ColumnReader, ColumnWriter } from "./columns.ts";

/** First byte of a packed window. One that starts like gzip is an upload, as they once were stored. */
const PLAIN = 2;
const DEFLATED = 3;
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

/** How a window is packed. */
export interface PackOptions {
  /** To a third less, for as much time as all the rest takes. */
  deflate: boolean;
}

/** Used for one window after the other: its buffers are large enough for most. */
const columns = new ColumnWriter();

/** Values of a window in the order of a layout; its span and its errors are stored beside. */
export function pack(window: Window, layout: Layout, { deflate }: PackOptions): Packed {
  const writer = new Packer(layout);
  columns.clear();
  writer.window(columns, window);
  const { strangers } = writer;
  if (isEmpty(strangers) && !deflate) {
    const body = columns.bytes(1);
    body[0] = PLAIN;
    return { body, strangers };
  }
  const text = isEmpty(strangers) ? "" : encodeIdentities(strangers);
  return { body: deflated(new TextEncoder().encode(text)), strangers };
}

/** What a window has and a layout has not. */
export function strangersOf(window: Window, layout: Layout): Identities {
  const writer = new Packer(layout);
  writer.window(new ColumnWriter(), window);
  return writer.strangers;
}

/** The window that was packed, without its errors. */
export function unpack(body: Uint8Array, { layout, from_ns, to_ns }: Packing): Window {
  if (body[0] === GZIP) return { ...uploaded(body), errors: [] };
  if (!layout || (body[0] !== PLAIN && body[0] !== DEFLATED)) {
    throw new RangeError("Cannot unpack a window: its format or its layout is not known");
  }
  const { text, values } = body[0] === PLAIN
    ? { text: "", values: body.subarray(1) }
    : inflated(body);
  const whole = text === "" ? layout : layout.with(decodeIdentities(text));
  const input = new ColumnReader(values);
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

const LENGTH_BYTES = 4;

/** The columns behind a text and its length. */
function deflated(text: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = columns.bytes(LENGTH_BYTES + text.length);
  new DataView(whole.buffer).setUint32(0, text.length, true);
  whole.set(text, LENGTH_BYTES);
  const bytes = deflateRawSync(whole, { level: DEFLATE_LEVEL });
  const body = new Uint8Array(1 + bytes.length);
  body[0] = DEFLATED;
  body.set(bytes, 1);
  return body;
}

function inflated(body: Uint8Array): { text: string; values: Uint8Array } {
  const whole = inflateRawSync(body.subarray(1));
  const end = LENGTH_BYTES + new DataView(whole.buffer, whole.byteOffset).getUint32(0, true);
  return { text: utf8.decode(whole.subarray(LENGTH_BYTES, end)), values: whole.subarray(end) };
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
    const { places, items } = this.#series(series);
    out.ascending(places);
    for (const { updated_ns } of items) {
      out.value(updated_ns === to_ns ? 0 : plain(to_ns - updated_ns));
    }
    for (const one of items) if (one.type === "gauge") out.value(one.value);
    for (const one of items) if (one.type === "counter") out.value(one.total);
    writeHistograms(out, items.filter((one) => one.type === "histogram"));
    for (const one of items) if (one.type === "profile") this.#frames(out, one.frames);
    this.#resources(out, resources, to_ns);
  }

  #series(series: Window["series"]): Placed<Series> {
    const { identities: { series: known } } = this.#layout;
    const placed = new Placed<Series>();
    for (const [key, one] of series) {
      const place = this.#layout.placeOfSeries(key, one) ??
        known.length + this.strangers.series.push(identityOf(one)) - 1;
      placed.put(place, one);
    }
    return placed.sorted();
  }

  #frames(out: ColumnWriter, frames: Map<string, FrameSum>): void {
    const placed = new Placed<FrameSum>();
    for (const [name, sum] of frames) placed.put(this.#placeOfFrame(name), sum);
    const { places, items } = placed.sorted();
    out.ascending(places);
    for (const { value } of items) out.value(value);
    for (const { samples } of items) out.value(samples);
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
    const placed = new Placed<Resource>();
    for (const [key, one] of resources) {
      const place = this.#layout.placeOfResource(key, one) ??
        known.length + this.strangers.resources.push(resourceIdentityOf(one)) - 1;
      placed.put(place, one);
    }
    const { places, items } = placed.sorted();
    out.ascending(places);
    for (const { last_seen_ts } of items) out.value(seconds(to_ns) - last_seen_ts);
  }
}

/** Items by their places, side by side: there are many. */
class Placed<T> {
  readonly places: number[];
  readonly items: T[];

  constructor(places: number[] = [], items: T[] = []) {
    this.places = places;
    this.items = items;
  }

  put(place: number, item: T): void {
    this.places.push(place);
    this.items.push(item);
  }

  /** Mostly it is so already. */
  sorted(): Placed<T> {
    const { places, items } = this;
    if (isAscending(places)) return this;
    const order = places.map((_, i) => i).sort((a, b) => places[a]! - places[b]!);
    return new Placed(order.map((i) => places[i]!), order.map((i) => items[i]!));
  }
}

function isAscending(values: number[]): boolean {
  for (let i = 1; i < values.length; i++) if (values[i]! <= values[i - 1]!) return false;
  return true;
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
  const { bins } = buckets;
  const indexes = [...bins.keys()];
  if (!isAscending(indexes)) indexes.sort((a, b) => a - b);
  out.natural(indexes.length);
  let before = 0;
  for (const index of indexes) {
    out.step(index - before);
    before = index;
  }
  for (const index of indexes) out.natural(bins.get(index)!);
}

function readBuckets(input: ColumnReader, kind: SeriesIdentity["buckets"]): Buckets | null {
  if (!kind) return null;
  if (kind !== "bins") {
    return { bounds: kind, counts: Array.from({ length: kind.length + 1 }, () => input.natural()) };
  }
  const indexes = new Array<number>(input.count());
  let index = 0;
  for (let i = 0; i < indexes.length; i++) indexes[i] = index += input.step();
  const bins: Bins = new Map();
  for (const one of indexes) bins.set(one, input.natural());
  return { bins };
}

function readAllSeries(input: ColumnReader, layout: Layout, to_ns: bigint): Map<string, Series> {
  const places = input.ascending(layout.identities.series.length);
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
  for (const place of input.ascending(layout.identities.frames.length)) {
    frames.set(layout.identities.frames[place]!, { value: 0, samples: 0 });
  }
  for (const sum of frames.values()) sum.value = input.value();
  for (const sum of frames.values()) sum.samples = input.value();
  return frames;
}

function readResources(input: ColumnReader, layout: Layout, to_ns: bigint): Map<string, Resource> {
  return new Map(
    input.ascending(layout.identities.resources.length).map((
      place,
    ) => [layout.resourceKeys[place]!, {
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
