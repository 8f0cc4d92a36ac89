/** The scanner of Prometheus' text formats: 0.0.4, with the quoted names of Prometheus 3, and OpenMetrics 1.0. */

import { MAX_SERIES } from "@service/core/limits";
import { LineError, readName, readNumber, readSample, type Sample } from "./_sample.ts";

/** The metrics of one page. */
export interface Exposition {
  /** In the order of the page; those that are complete before a fault. */
  families: Family[];
  /** Where the reading of the page ends early, and why. */
  fault?: { line: number; why: string };
}

/** Type of a family; `unknown` is called untyped in 0.0.4. */
export type FamilyType =
  | "counter"
  | "gauge"
  | "gaugehistogram"
  | "histogram"
  | "info"
  | "stateset"
  | "summary"
  | "unknown";

/** A metric with all its series. */
export interface Family {
  name: string;
  type: FamilyType;
  /** From `# UNIT`, OpenMetrics only. */
  unit?: string;
  series: ExposedSeries[];
}

/** The samples of a family that share their labels. */
export interface ExposedSeries {
  /** Equal for series of a family exactly when they have the same labels. */
  key: string;
  /** Without `le` and `quantile`. */
  labels: Record<string, string>;
  points: Point[];
}

/** One sample. */
export interface Point {
  /** The sample's name behind the family's, such as `_bucket`. */
  suffix: string;
  /** Value of `le` or `quantile`, or `null` without it. */
  bound: number | null;
  value: number;
}

/** Properties of a page besides its text. */
export interface ScanOptions {
  /** Whether it is OpenMetrics, which must end in `# EOF`. */
  openMetrics?: boolean;
  /** Why the text is not all of the page. */
  cut?: string;
}

/** Suffixes that names of samples may have behind the name of a declared family. */
const SUFFIXES: Record<FamilyType, readonly string[]> = {
  counter: ["_total", "_created"],
  gauge: [],
  gaugehistogram: ["_bucket", "_gcount", "_gsum"],
  histogram: ["_bucket", "_count", "_sum", "_created"],
  info: ["_info"],
  stateset: [],
  summary: ["_count", "_sum", "_created"],
  unknown: [],
};

/** The families of the page `text`; never throws. */
export function scan(text: string, { openMetrics = false, cut }: ScanOptions = {}): Exposition {
  const page = new Page();
  let at = 0;
  let line = 0;
  try {
    for (let end; (end = text.indexOf("\n", at)) >= 0; at = end + 1) {
      line++;
      page.read(text, at, end);
    }
    if (cut !== undefined) throw new LineError(cut);
    if (!page.ended && (at < text.length || openMetrics)) {
      // The last line of OpenMetrics needs no line feed.
      if (!/^# EOF\r?$/.test(text.slice(at))) {
        line++;
        throw new LineError(
          openMetrics ? 'the page ends without "# EOF"' : "the page ends within a line",
        );
      }
    }
  } catch (error) {
    if (!(error instanceof LineError)) throw error;
    const families = page.families(text.slice(at));
    return { families, fault: { line, why: error.message } };
  }
  return { families: page.families() };
}

/** The family of a sample name, and the suffix. */
interface Owner {
  family: OpenFamily;
  suffix: string;
}

/** A family while its page is read. */
interface OpenFamily extends Family {
  declared: boolean;
  /** Series by their labels as written. */
  byText: Map<string, ExposedSeries>;
  /** Series by their labels sorted. */
  byKey: Map<string, ExposedSeries>;
}

/** The families of a page so far. */
class Page {
  readonly #families = new Map<string, OpenFamily>();
  /** By sample name. */
  readonly #owners = new Map<string, Owner>();
  #current: OpenFamily | undefined;
  /** The series of the last sample, and its labels. */
  #series: ExposedSeries | undefined;
  #labels: string[] | undefined;
  /** Number of series. */
  #count = 0;
  /** Whether the page has had its `# EOF`. */
  ended = false;

  /** Reads the line of `text` from `start` to the line feed at `end`. */
  read(text: string, start: number, end: number): void {
    let at = start;
    while (text[at] === " " || text[at] === "\t") at++;
    if (at === end || (text[at] === "\r" && at + 1 === end)) return;
    if (this.ended) throw new LineError('the page goes on after "# EOF"');
    if (text[at] === "#") this.#comment(text.slice(at, end).trimEnd());
    else this.#sample(readSample(text, at, end));
  }

  /** The complete families: all, or after a fault in `rest`, all but the one that it may belong to. */
  families(rest?: string): Family[] {
    const open = rest === undefined || this.ended || beginsOtherFamily(rest, this.#current?.name)
      ? undefined
      : this.#current;
    return [...this.#families.values()]
      .filter((family) => family !== open && family.series.length > 0)
      .map(({ name, type, unit, series }) => ({ name, type, ...(unit && { unit }), series }));
  }

  #comment(line: string): void {
    if (line === "# EOF") this.ended = true;
    const keyword = /^#[ \t]+(TYPE|UNIT)[ \t]+/.exec(line);
    if (!keyword) return;
    const { name, at } = readName(line, keyword[0].length);
    const value = line.slice(at).trim();
    if (name === "") throw new LineError(`${keyword[1]} names no metric`);
    const family = this.#families.get(name) ?? this.#open(name);
    this.#current = family;
    this.#labels = undefined;
    if (keyword[1] === "UNIT") family.unit = value;
    else if (!family.declared) {
      const type = value === "untyped" ? "unknown" : value;
      if (!Object.hasOwn(SUFFIXES, type)) {
        throw new LineError(`${JSON.stringify(value.slice(0, 60))} is no type of a metric`);
      }
      family.type = type as FamilyType;
      family.declared = true;
    }
  }

  #sample({ name, labels, bound, value }: Sample): void {
    const { family, suffix } = this.#owners.get(name) ?? this.#own(name);
    // The samples of one series mostly follow each other.
    if (family !== this.#current || !areEqual(labels, this.#labels)) {
      const text = keyOf(labels);
      this.#series = family.byText.get(text) ?? this.#add(family, labels, text);
      this.#labels = labels;
      this.#current = family;
    }
    this.#series!.points.push({ suffix, bound: bound === null ? null : readNumber(bound), value });
  }

  /** The family of the samples called `name`: the one of that name, or one that allows the suffix. */
  #own(name: string): Owner {
    let owner: Owner | undefined;
    const family = this.#families.get(name);
    if (family) owner = { family, suffix: "" };
    for (let at = name.lastIndexOf("_"); !owner && at > 0; at = -1) {
      const base = this.#families.get(name.slice(0, at));
      const suffix = name.slice(at);
      if (base && SUFFIXES[base.type].includes(suffix)) owner = { family: base, suffix };
    }
    owner ??= { family: this.#open(name), suffix: "" };
    this.#owners.set(name, owner);
    return owner;
  }

  #add(family: OpenFamily, labels: readonly string[], text: string): ExposedSeries {
    const pairs: [string, string][] = [];
    for (let i = 0; i < labels.length; i += 2) pairs.push([labels[i]!, labels[i + 1]!]);
    pairs.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
    const twice = pairs.find(([name], i) => i > 0 && name === pairs[i - 1]![0]);
    if (twice) throw new LineError(`the label ${JSON.stringify(twice[0])} is given twice`);
    const key = keyOf(pairs.flat());
    let series = family.byKey.get(key);
    if (!series) {
      // More could not be recorded, and would fill the memory.
      if (++this.#count > MAX_SERIES) {
        throw new LineError(`there are more than ${MAX_SERIES} series`);
      }
      series = { key, labels: Object.fromEntries(pairs), points: [] };
      family.byKey.set(key, series);
      family.series.push(series);
    }
    family.byText.set(text, series);
    return series;
  }

  #open(name: string): OpenFamily {
    const family: OpenFamily = {
      name,
      type: "unknown",
      series: [],
      declared: false,
      byText: new Map(),
      byKey: new Map(),
    };
    this.#families.set(name, family);
    return family;
  }
}

/** Whether a bad line, or the part of it that there is, begins a family other than `name`. */
function beginsOtherFamily(rest: string, name: string | undefined): boolean {
  if (name === undefined || rest.startsWith("# ")) return true;
  const word = /^[\w:]+/.exec(rest)?.[0];
  return word !== undefined && !word.startsWith(name) && !name.startsWith(word);
}

function areEqual(a: readonly string[], b: readonly string[] | undefined): boolean {
  if (a.length !== b?.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Labels as a key; with their lengths nothing needs an escape. */
function keyOf(labels: readonly string[]): string {
  let key = "";
  for (const part of labels) key += `${part.length}:${part}`;
  return key;
}
