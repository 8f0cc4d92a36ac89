/** Fast reader of uploads: caches the identities of series, which are equal in every window. */

import { decode, type Series, seriesKey, type Tags, type Upload } from "@service/core";
import { MAX_SERIES } from "@service/core/limits";
import { Lru } from "@service/core/lru";
import { seriesIdentity } from "@service/core/series";
import { uploadShape } from "@service/core/upload_schema";
import { LAST_NS } from "@service/core/time";
import { detached, NotCanonical, TextReader } from "./_text_reader.ts";
import type { RememberedNames } from "./kind.ts";
import { formats } from "./kinds.ts";

/** A series as its text begins, up to its values. */
interface CachedSeries extends RememberedNames {
  /** From the brace to the comma. */
  text: string;
  key: string;
  name: string;
  type: Series["type"];
  tags: Tags;
  /** The series after it in the last upload. */
  next?: CachedSeries;
  /** Whether it was evicted from the cache, and `next` with it. */
  isEvicted?: true;
}

/** Characters of identities and frame names that are remembered. */
const MAX_CHARACTERS = 2 ** 24;

/** The end of the window and the start of its series; quotes in a JSON string would be escaped. */
const START = /"to_ns":(0|[1-9]\d{0,18}),"series":\[/;

/** Name, type and tags in any order, before anything else. */
const IDENTITY =
  /\{(?:"(?:name|type)":"(?:[^"\\]|\\.)*",|"tags":\{(?:"(?:[^"\\]|\\.)*":"(?:[^"\\]|\\.)*",?)*\},){3}/y;

const INSTANT = /(?:0|[1-9]\d{0,18}),/y;

/** Stands for the series in the rest of the text; random, so that no text contains it by itself. */
const MARK = crypto.randomUUID();

/**
 * Reads uploads as `uploadShape` does. Series are read as `encodeUpload` writes them, for a fraction of
 * the time; any other form is left to the shape.
 */
export class UploadReader {
  readonly #cached: Lru<string, CachedSeries>;

  /** With an empty cache. */
  constructor({ max_characters = MAX_CHARACTERS } = {}) {
    this.#cached = new Lru({
      max: max_characters,
      weigh: ({ text, names }) => text.length + (names?.text.length ?? 0),
      onEvict(series) {
        series.isEvicted = true;
        series.next = undefined;
      },
    });
  }

  /**
   * Reads the upload in a JSON text.
   *
   * @throws {SyntaxError} If the text is not JSON.
   * @throws {ShapeError} If it is not an upload.
   */
  read(text: string): Upload {
    return this.readFast(text) ?? uploadShape.check(decode(text));
  }

  /** The upload in a text in canonical form; `undefined` for any other text. */
  readFast(text: string): Upload | undefined {
    const start = START.exec(text);
    if (!start) return undefined;
    const list = start.index + start[0].length;
    try {
      const reader = new TextReader(text, list);
      const to_ns = BigInt(start[1]!);
      const series = this.#readAll(reader, to_ns);
      const value = decode(`${text.slice(0, list - 1)}"${MARK}"${text.slice(reader.at)}`) as {
        window: { series: unknown };
      };
      if (value.window.series !== MARK) return undefined;
      value.window.series = [];
      const upload = uploadShape.check(value);
      if (upload.window.to_ns !== to_ns) return undefined;
      return { ...upload, window: { ...upload.window, series } };
    } catch (error) {
      if (isNotCanonical(error)) return undefined;
      throw error;
    }
  }

  /** All series up to the end of the list. */
  #readAll(reader: TextReader, to_ns: bigint): Map<string, Series> {
    const all = new Map<string, Series>();
    if (reader.skipIf("]")) return all;
    let before: CachedSeries | undefined;
    let count = 0;
    do {
      const next = before?.next;
      const isNext = next && !next.isEvicted && reader.skipIf(next.text);
      const cached = isNext ? next : this.#readIdentity(reader);
      if (before && !before.isEvicted) before.next = cached;
      before = cached;
      all.set(cached.key, this.#readValues(reader, cached, to_ns));
      if (all.size < ++count || count > MAX_SERIES) throw new NotCanonical();
    } while (reader.skipIf(","));
    reader.expect("]");
    return all;
  }

  #readIdentity(reader: TextReader): CachedSeries {
    const text = reader.match(IDENTITY);
    let cached = this.#cached.get(text);
    if (!cached) {
      const identity = seriesIdentity.check(JSON.parse(`${text.slice(0, -1)}}`));
      cached = { ...identity, text: detached(text), key: seriesKey(identity) };
      this.#cached.set(cached.text, cached);
    }
    return cached;
  }

  #readValues(reader: TextReader, cached: CachedSeries, to_ns: bigint): Series {
    const { name, tags, names } = cached;
    const updated_ns = reader.skipIf('"updated_ns":') ? readInstant(reader) : to_ns;
    const series = formats[cached.type].read(reader, { name, tags, updated_ns }, cached);
    reader.expect("}");
    // Other names change its weight.
    if (cached.names !== names) this.#cached.set(cached.text, cached);
    return series;
  }
}

/** Whether the error means that the text is not canonical: then the shape checks it, and names the fault. */
function isNotCanonical(error: unknown): boolean {
  return error instanceof NotCanonical || error instanceof TypeError ||
    error instanceof SyntaxError;
}

function readInstant(reader: TextReader): bigint {
  const ns = BigInt(reader.match(INSTANT).slice(0, -1));
  if (ns > LAST_NS) throw new NotCanonical();
  return ns;
}
