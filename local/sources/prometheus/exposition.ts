/** A scanner of Prometheus' text formats: 0.0.4, with the quoted names of Prometheus 3, and OpenMetrics 1.0. */

import { MAX_SERIES } from "@service/core/limits";
import { LineError, readName, readNumber, readSample, type Sample } from "./_sample.ts";

/** What a target exposes. */
export interface Exposition {
  /** In the order of the page; where it turns bad, those that are whole before. */
  families: Family[];
  /** Where and why the page cannot be read on. */
  fault?: { line: number; why: string };
}

/** What a family measures; `unknown` is also what 0.0.4 calls untyped. */
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
  /** What the sample's name has behind the family's, such as `_bucket`. */
  suffix: string;
  /** Value of `le` or `quantile`, or `null` where there is none. */
  bound: number | null;
  value: number;
}

/** What is known of a page beside its text. */
export interface ScanOptions {
  /** Whether it is OpenMetrics, which must end in `# EOF`. */
  openMetrics?: boolean;
  /** Why the text is not all of the page. */
  cut?: string;
}

/** What the names of samples may have behind the name of a family that is declared. */
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

/** Families, type by type, that the page `text` is; never throws. */
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
      // The last line of OpenMetrics needs no line feed where it says that it is the last.
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

interface Owner {
  family: OpenFamily;
  suffix: string;
}

/** A family while its page is read. */
interface OpenFamily extends Family {
  declared: boolean;
  /** By their labels as they are written, then by their labels sorted. */
  byText: Map<string, ExposedSeries>;
  byKey: Map<string, ExposedSeries>;
}

/** The families of a page so far. */
class Page {
  readonly #families = new Map<string, OpenFamily>();
  /** Of each sample name. */
  readonly #owners = new Map<string, Owner>();
  #current: OpenFamily | undefined;
  /** That of the sample before, and its labels. */
  #series: ExposedSeries | undefined;
  #labels: string[] | undefined;
  /** Series so far. */
  #count = 0;
  /** Whether the page has said that it ends. */
  ended = false;

  /** Takes the line of `text` from `start` to the line feed at `end`. */
  read(text: string, start: number, end: number): void {
    let at = start;
    while (text[at] === " " || text[at] === "\t") at++;
    if (at === end || (text[at] === "\r" && at + 1 === end)) return;
    if (this.ended) throw new LineError('the page goes on after "# EOF"');
    if (text[at] === "#") this.#comment(text.slice(at, end).trimEnd());
    else this.#sample(readSample(text, at, end));
  }

  /** Those that are whole: all, or where the page turned bad at `rest`, all but the one that is open. */
  families(rest?: string): Family[] {
    const open = rest === undefined || this.ended || isOfAnother(rest, this.#current?.name)
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

  /** Whose the samples called `name` are: a family of that name, or one that allows what follows its own. */
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
      // Nobody could record more, and a page of nothing else would fill the memory.
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

/** Whether a bad line, or what there is of it, begins a family other than `name`. */
function isOfAnother(rest: string, name: string | undefined): boolean {
  if (name === undefined || rest.startsWith("# ")) return true;
  const word = /^[\w:]+/.exec(rest)?.[0];
  return word !== undefined && !word.startsWith(name) && !name.startsWith(word);
}

function areEqual(a: readonly string[], b: readonly string[] | undefined): boolean {
  if (a.length !== b?.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** With lengths nothing needs an escape. */
function keyOf(labels: readonly string[]): string {
  let key = "";
  for (const part of labels) key += `${part.length}:${part}`;
  return key;
}
