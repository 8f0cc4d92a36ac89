/** The tables of a segment: its series and cells, read as they grow. */

import type { Series, Tags } from "@service/core";
import { isBinIndex } from "@service/core/bins";
import { MAX_NAME_LENGTH, MAX_TAGS } from "@service/core/limits";
import type { SegmentFile } from "./file.ts";
import {
  CELL_BYTES,
  refuseSegment,
  type SegmentLayout,
  type SegmentProgress,
  SERIES_BYTES,
} from "./layout.ts";

/** A series of a segment. */
export interface SegmentSeries {
  name: string;
  type: Series["type"];
  tags: Tags;
  /** Its cells. */
  cells: SegmentCell[];
}

/** A value of a series, or a part of it. */
export interface SegmentCell {
  /** Index in the banks of values. */
  at: number;
  /** The frame of a profile. */
  frame: string;
  /** The bin of a histogram, or {@linkcode SUM} or {@linkcode EXTREMES}. */
  bin: number;
}

/** The cell of a histogram's sum and count. */
export const SUM = 0xffffffff;
/** The cell of a histogram's least and greatest value. */
export const EXTREMES = 0xfffffffe;

const TYPES = ["gauge", "counter", "histogram", "profile"] as const;

/** The frame of kernels without a name. */
const UNNAMED = "(unnamed)";
/** Characters that a name has none of, and the end of one that the writer has cut. */
const CONTROL = /\p{Cc}/gu;
const REPLACED = /\ufffd|\u2026[0-9a-f]{16}$/;

/** The tables of one segment. */
export class SegmentTables {
  /** In the order of their appearance. */
  readonly series: SegmentSeries[] = [];
  /** Number of frames so far with another name than the driver's, which no frame may have. */
  replacedNames = 0;
  #cells = 0;
  #names = new Uint8Array(0);
  readonly #file: SegmentFile;
  readonly #layout: SegmentLayout;
  // A symbol that is not UTF-8 keeps its time, under a name with replacement characters.
  readonly #decoder: TextDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

  /** The tables of `file`, before the first reading. */
  constructor(file: SegmentFile, layout: SegmentLayout) {
    this.#file = file;
    this.#layout = layout;
  }

  /**
   * Reads the rows that were added.
   *
   * @throws {SegmentRefusal} If no writer could have added them.
   */
  grow({ series_count, cell_count, name_bytes }: SegmentProgress): void {
    if (series_count < this.series.length || cell_count < this.#cells) {
      refuseSegment("its tables shrink");
    }
    this.#growNames(name_bytes);
    const { series_at, cells_at } = this.#layout;
    const series = this.#table(series_at, SERIES_BYTES, this.series.length, series_count);
    for (let at = 0; at < series.length; at += SERIES_BYTES / 4) {
      this.series.push(this.#readSeries(series.subarray(at)));
    }
    const cells = this.#table(cells_at, CELL_BYTES, this.#cells, cell_count);
    for (let at = 0; at < cells.length; at += CELL_BYTES / 4) {
      this.#addCell(cells[at]!, cells[at + 1]!);
    }
  }

  /**
   * The text at an offset in the names.
   *
   * @throws {SegmentRefusal} If there is no text.
   */
  text(offset: number): string {
    const bytes = this.#names;
    if (offset === 0 || offset % 4 !== 0 || offset + 4 > bytes.length) {
      refuseSegment("a name lies outside of the names");
    }
    const length = new DataView(bytes.buffer).getUint32(offset, true);
    if (length > MAX_NAME_LENGTH || offset + 4 + length > bytes.length) {
      refuseSegment(`a name has ${length} bytes`);
    }
    return this.#decoder.decode(bytes.subarray(offset + 4, offset + 4 + length));
  }

  /** Names come from the driver: none of them is a reason to refuse the segment. */
  #frame(offset: number): string {
    const frame = this.text(offset).replace(CONTROL, "\ufffd") || UNNAMED;
    if (frame === UNNAMED || REPLACED.test(frame)) this.replacedNames++;
    return frame;
  }

  #growNames(bytes: number): void {
    const before = this.#names.length;
    if (bytes < before) refuseSegment("its tables shrink");
    if (bytes === before) return;
    const names = new Uint8Array(bytes);
    names.set(this.#names);
    this.#file.read(this.#layout.names_at + before, names.subarray(before));
    this.#names = names;
  }

  #table(at: number, size: number, from: number, to: number): Uint32Array {
    const bytes = new Uint8Array((to - from) * size);
    this.#file.read(at + from * size, bytes);
    return new Uint32Array(bytes.buffer);
  }

  #readSeries([name = 0, tags = 0, number = 0]: Uint32Array): SegmentSeries {
    const type = TYPES[number] ?? refuseSegment(`a series has the type ${number}`);
    const metric = this.text(name);
    if (!/^[a-zA-Z_:][\w:]*$/.test(metric)) refuseSegment("a metric's name is none");
    return { name: metric, type, tags: tags === 0 ? {} : readTags(this.text(tags)), cells: [] };
  }

  #addCell(series: number, name: number): void {
    const { type, cells } = this.series[series] ?? refuseSegment("a cell has no series");
    const cell = { at: this.#cells, frame: "", bin: 0 };
    if (type === "profile") {
      cell.frame = this.#frame(name);
    } else if (type === "histogram") {
      cell.bin = name;
      if (name < EXTREMES && !isBinIndex(name)) refuseSegment(`a histogram has the bin ${name}`);
    }
    cells.push(cell);
    this.#cells++;
  }
}

function readTags(text: string): Tags {
  const words = text.split("\0");
  if (words.pop() !== "" || words.length % 2 !== 0) refuseSegment("its tags are not pairs");
  if (words.length / 2 > MAX_TAGS) refuseSegment("a series has too many tags");
  const tags: Record<string, string> = {};
  for (let i = 0; i < words.length; i += 2) {
    const key = words[i]!;
    const value = words[i + 1]!;
    if (key === "" || Object.hasOwn(tags, key)) refuseSegment("a tag has no name, or comes twice");
    Object.defineProperty(tags, key, { value, enumerable: true });
  }
  return Object.freeze(tags);
}
