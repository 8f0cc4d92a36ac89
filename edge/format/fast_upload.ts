/** Reads uploads fast whose series are known: their identities come again with every window. */

import {
  type Buckets,
  decode,
  type FrameSum,
  type Quantity,
  type Series,
  seriesKey,
  type Sum,
  type Tags,
  type Upload,
} from "@service/core";
import { isBinIndex } from "@service/core/bins";
import { Lru } from "@service/core/lru";
import { MAX_BINS, MAX_BUCKETS, MAX_MAGNITUDE, MAX_SERIES } from "@service/core/limits";
import { frameNames, seriesIdentity } from "@service/core/series";
import { isSum } from "@service/core/sum";
import { LAST_NS } from "@service/core/time";
import { uploadShape } from "@service/core/upload_schema";
import { NotCanonical, TextReader } from "./_text_reader.ts";

/** A series as its text begins, up to its values. */
interface KnownSeries {
  /** From the brace to the comma. */
  text: string;
  key: string;
  name: string;
  type: Series["type"];
  tags: Tags;
  /** The series that came after it the last time. */
  next?: KnownSeries;
  /** Frames that it had the last time. */
  names?: { text: string; list: string[] };
  /** Whether it made room for others: what came after it is not known any more. */
  isEvicted?: true;
}

/** Characters of identities and frame names that are remembered. */
const MAX_CHARACTERS = 2 ** 24;

/** Name, type and tags in any order, before anything else. */
const IDENTITY =
  /\{(?:"(?:name|type)":"(?:[^"\\]|\\.)*",|"tags":\{(?:"(?:[^"\\]|\\.)*":"(?:[^"\\]|\\.)*",?)*\},){3}/y;

const NAMES = /\[(?:"(?:[^"\\]|\\.)*",?)*\]/y;

/** Stands for the series; nobody can know it, so that where it is found it was put. */
const MARK = crypto.randomUUID();

const SERIES = '"series":[';

/**
 * Reads uploads as `uploadShape` does. Series are read as the profiler writes them, for a fraction of
 * the time; whatever differs from that in the least is left to the shape.
 */
export class UploadReader {
  readonly #known: Lru<string, KnownSeries>;

  /** That has read nothing yet. */
  constructor({ max_characters = MAX_CHARACTERS } = {}) {
    this.#known = new Lru({
      max: max_characters,
      weigh: ({ text, names }) => text.length + (names?.text.length ?? 0),
      onEvict(series) {
        series.isEvicted = true;
        series.next = undefined;
      },
    });
  }

  /**
   * The upload that a JSON text is.
   *
   * @throws {SyntaxError} If the text is not JSON.
   * @throws {ShapeError} If it is not an upload.
   */
  read(text: string): Upload {
    return this.readFast(text) ?? uploadShape.check(decode(text));
  }

  /** The upload that a JSON text in canonical form is, or `undefined` for any other text. */
  readFast(text: string): Upload | undefined {
    const from = text.indexOf(SERIES);
    if (from < 0) return undefined;
    try {
      const reader = new TextReader(text, from + SERIES.length);
      const series = this.#readAll(reader);
      const rest = `${text.slice(0, from)}"series":"${MARK}"${text.slice(reader.at)}`;
      const value = decode(rest) as { window: { series: unknown } };
      if (value.window.series !== MARK) return undefined;
      value.window.series = [];
      const upload = uploadShape.check(value);
      for (const one of series.values()) one.updated_ns ??= upload.window.to_ns;
      return { ...upload, window: { ...upload.window, series: series as Map<string, Series> } };
    } catch (error) {
      // Only the shape tells what is wrong, and where.
      if (
        error instanceof NotCanonical || error instanceof TypeError || error instanceof SyntaxError
      ) return undefined;
      throw error;
    }
  }

  /** All series up to the end of the list. */
  #readAll(reader: TextReader): Map<string, Read> {
    const all = new Map<string, Read>();
    if (reader.skipIf("]")) return all;
    let before: KnownSeries | undefined;
    let count = 0;
    do {
      const next = before?.next;
      const isNext = next && !next.isEvicted && reader.skipIf(next.text);
      const series = isNext ? next : this.#readIdentity(reader);
      if (before && !before.isEvicted) before.next = series;
      before = series;
      const { names } = series;
      all.set(series.key, readValues(reader, series));
      if (series.names !== names) this.#known.set(series.text, series);
      reader.expect("}");
      if (all.size < ++count || count > MAX_SERIES) throw new NotCanonical();
    } while (reader.skipIf(","));
    reader.expect("]");
    return all;
  }

  #readIdentity(reader: TextReader): KnownSeries {
    const text = reader.match(IDENTITY);
    let series = this.#known.get(text);
    if (!series) {
      const identity = seriesIdentity.check(JSON.parse(`${text.slice(0, -1)}}`));
      series = { ...identity, text: detached(text), key: seriesKey(identity) };
      this.#known.set(series.text, series);
    }
    return series;
  }
}

/** The text without the longer one that it is a part of. */
function detached(text: string): string {
  return ` ${text}`.slice(1);
}

/** Without `updated_ns` it was updated at the end of the window. */
type Read<S extends Series = Series> = S extends Series
  ? Omit<S, "updated_ns"> & { updated_ns: bigint | undefined }
  : never;

function readValues(reader: TextReader, one: KnownSeries): Read {
  const { name, type, tags } = one;
  const updated_ns = reader.skipIf('"updated_ns":') ? readInstant(reader) : undefined;
  switch (type) {
    case "gauge":
      reader.expect('"value":');
      return { name, type, tags, updated_ns, value: readQuantity(reader) };
    case "counter":
      reader.expect('"total":');
      return { name, type, tags, updated_ns, total: readIncrease(reader) };
    case "histogram":
      return readHistogram(reader, { name, type, tags, updated_ns });
    case "profile":
      reader.expect('"frames":');
      return { name, type, tags, updated_ns, frames: readFrames(reader, one) };
  }
}

const INSTANT = /(?:0|[1-9]\d{0,18}),/y;

function readInstant(reader: TextReader): bigint {
  const ns = BigInt(reader.match(INSTANT).slice(0, -1));
  if (ns > LAST_NS) throw new NotCanonical();
  return ns;
}

function readQuantity(reader: TextReader): Quantity {
  const value = reader.number();
  if (Math.abs(Number(value)) > MAX_MAGNITUDE) throw new NotCanonical();
  return value;
}

function readDouble(reader: TextReader): number {
  return Number(readQuantity(reader));
}

const SUM_PARTS = 2 ** 10;

function readSum(reader: TextReader): Sum {
  if (reader.text[reader.at] !== "[") return readDouble(reader) + 0;
  const parts = reader.list(readDouble, SUM_PARTS);
  if (!isSum(parts)) throw new NotCanonical();
  return parts;
}

function readIncrease(reader: TextReader): Sum {
  const sum = readSum(reader);
  if ((typeof sum === "number" ? sum : sum[0]!) < 0) throw new NotCanonical();
  return sum;
}

const readNatural = (reader: TextReader): number => reader.natural();
const readInteger = (reader: TextReader): number => reader.integer();

function readHistogram(
  reader: TextReader,
  identity: Pick<Read & { type: "histogram" }, "name" | "type" | "tags" | "updated_ns">,
): Read {
  reader.expect('"count":');
  const count = reader.natural();
  reader.expect(',"sum":');
  const sum = readSum(reader);
  reader.expect(',"min":');
  const min = reader.skipIf("null") ? null : readDouble(reader);
  reader.expect(',"max":');
  const max = reader.skipIf("null") ? null : readDouble(reader);
  reader.expect(',"buckets":');
  const buckets = reader.skipIf("null") ? null : readBuckets(reader, count);
  return { ...identity, count, sum, min, max, buckets };
}

function readBuckets(reader: TextReader, count: number): Buckets {
  const isBins = reader.skipIf('{"kind":"bins","indexes":');
  if (!isBins) reader.expect('{"kind":"bounds","bounds":');
  const places = isBins ? reader.list(readInteger, MAX_BINS) : reader.list(readDouble, MAX_BUCKETS);
  reader.expect(',"counts":');
  const counts = reader.list(readNatural, MAX_BINS);
  reader.expect("}");
  const isWhole = counts.length === places.length + (isBins ? 0 : 1) && isAscending(places) &&
    counts.reduce((total, times) => total + times, 0) === count;
  if (!isWhole) throw new NotCanonical();
  if (!isBins) return { bounds: places, counts };
  if (!places.every(isBinIndex)) throw new NotCanonical();
  return { bins: new Map(places.map((index, i) => [index, counts[i]!])) };
}

function isAscending(values: number[]): boolean {
  return values.every((value, i) => i === 0 || value > values[i - 1]!);
}

function readFrames(reader: TextReader, one: KnownSeries): Map<string, FrameSum> {
  reader.expect('{"names":');
  if (!one.names || !reader.skipIf(one.names.text)) {
    const text = reader.match(NAMES);
    one.names = { text: detached(text), list: frameNames.check(JSON.parse(text)) };
  }
  const { list } = one.names;
  reader.expect(',"values":');
  const values = reader.list(readSum, list.length);
  reader.expect(',"samples":');
  const samples = reader.list(readNatural, list.length);
  reader.expect("}");
  const frames = new Map<string, FrameSum>();
  list.forEach((name, i) => frames.set(name, { value: values[i]!, samples: samples[i]! }));
  const isWhole = frames.size === values.length && frames.size === samples.length;
  if (!isWhole || frames.size !== list.length) throw new NotCanonical();
  return frames;
}
