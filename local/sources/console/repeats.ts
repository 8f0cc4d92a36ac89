/** Repeats: equal warnings and errors are counted instead of reported one by one. */

import type { ErrorEntry } from "@service/core";
import { Lru } from "@service/core/lru";

/** Most distinct entries that are kept for comparison: the most recent. */
const MAX_DISTINCT = 256;

/** Most entries that differ only in small numbers and are told apart: the ranks, workers or devices of a host. */
const MAX_VARIANTS = 16;

/** Most entries reported between two flushes, and most of the further ones, the newest, with the next flush. */
const MAX_REPORTED = 100;

/** Equal entries: the newest, and the number of those since the last flush. */
interface Repeated {
  newest: ErrorEntry;
  count: number;
}

/**
 * Reports the first of equal entries at once. Each flush reports the newest of those that came since,
 * with their number as the tag `count`; an entry without `count` counts as one, so counts add up
 * across windows. Entries are equal when they differ only in numbers that pass, such as times, steps and
 * addresses. Small numbers name workers and devices: the first entries that differ in them are told
 * apart, further ones are equal.
 */
export class Repeats {
  #report: (entry: ErrorEntry) => void;
  readonly #repeats = new Lru<string, Repeated>({
    max: MAX_DISTINCT,
    onEvict: (repeated) => {
      if (repeated.count > 0) this.#reportWithinLimit(counted(repeated));
    },
  });
  /** The variants of entries that are equal but for small numbers. */
  readonly #variants = new Lru<string, Set<string>>({ max: MAX_DISTINCT });
  /** Entries above the limit, for the next flush. */
  #deferred: ErrorEntry[] = [];
  #reported = 0;

  /** Repeats that are reported to `report`. */
  constructor(report: (entry: ErrorEntry) => void) {
    this.#report = report;
  }

  /** Takes an entry. */
  add(entry: ErrorEntry): void {
    const key = this.#key(entry);
    const repeated = this.#repeats.get(key);
    if (repeated) {
      repeated.newest = entry;
      repeated.count++;
    } else {
      this.#reportWithinLimit(entry);
      this.#repeats.set(key, { newest: entry, count: 0 });
    }
  }

  /** Reports the repeats since the last flush. */
  flush(): void {
    this.#reported = 0;
    for (const entry of this.#deferred.splice(0)) this.#report(entry);
    for (const repeated of this.#repeats.values()) {
      if (repeated.count > 0) this.#report(counted(repeated));
      repeated.count = 0;
    }
  }

  #key(entry: ErrorEntry): string {
    const kind = kindOf(entry);
    const variants = this.#variants.get(kind) ?? new Set();
    this.#variants.set(kind, variants);
    const variant = variantOf(entry);
    if (variants.size < MAX_VARIANTS) variants.add(variant);
    return variants.has(variant) ? `${kind}\0${variant}` : kind;
  }

  #reportWithinLimit(entry: ErrorEntry): void {
    if (this.#reported++ < MAX_REPORTED) return this.#report(entry);
    this.#deferred.push(entry);
    if (this.#deferred.length > MAX_REPORTED) this.#deferred.shift();
  }
}

function counted({ newest, count }: Repeated): ErrorEntry {
  return count === 1 ? newest : { ...newest, tags: { ...newest.tags, count: String(count) } };
}

/** What entries have in common that differ only in numbers. */
function kindOf({ level, message, exception, tags = {} }: ErrorEntry): string {
  const { stream, "process.rank": rank, "process.local_rank": local_rank } = tags;
  const text = [message, exception].join("\0").replace(/0x[\da-f]+|\b[\da-f]{8,}\b|\d+/gi, "0");
  return [level, stream, rank, local_rank, text].join("\0");
}

/** Times, versions, dates, addresses, and numbers of four digits and more. */
const PASSING = /0x[\da-f]+|\b[\da-f]{8,}\b|\d+(?:[.:,]\d+)+|\d+[-/]\d+[-/]\d+|\d{4,}/gi;

/** The small numbers of an entry, which name what failed, and its process. */
function variantOf({ message, tags = {} }: ErrorEntry): string {
  const numbers = message.replace(PASSING, "").match(/\d+/g) ?? [];
  return [tags["process.pid"], ...numbers].join(" ");
}
