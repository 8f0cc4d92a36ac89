/** Repeats of a warning or error, counted instead of told one by one. */

import type { ErrorEntry } from "@service/core";

/** Distinct entries that are remembered; the one longest unseen goes first. */
const MAX_REMEMBERED = 128;

/** Entries reported between two flushes; of further ones the newest so many are reported then. */
const MAX_REPORTED = 100;

/**
 * Reports the first of equal entries at once and counts the rest: each flush reports one more entry
 * for those since, its tag `count` saying how many. Counts of entries thus add up, as windows do: an
 * entry without `count` stands for one. Entries are equal when they differ only in numbers.
 */
export class Repeats {
  #report: (entry: ErrorEntry) => void;
  #since = new Map<string, { newest: ErrorEntry; count: number }>();
  #late: ErrorEntry[] = [];
  #reported = 0;

  /** Repeats that tells `report`. */
  constructor(report: (entry: ErrorEntry) => void) {
    this.#report = report;
  }

  /** Takes an entry. */
  add(entry: ErrorEntry): void {
    const key = identity(entry);
    const seen = this.#since.get(key);
    this.#since.delete(key);
    this.#since.set(key, { newest: entry, count: seen ? seen.count + 1 : 0 });
    if (!seen) this.#pass(entry);
    if (this.#since.size <= MAX_REMEMBERED) return;
    const [oldest, { newest, count }] = this.#since.entries().next().value!;
    this.#since.delete(oldest);
    if (count > 0) this.#pass(counted(newest, count));
  }

  /** Reports the repeats since the last flush. */
  flush(): void {
    this.#reported = 0;
    for (const entry of this.#late.splice(0)) this.#report(entry);
    for (const seen of this.#since.values()) {
      if (seen.count > 0) this.#report(counted(seen.newest, seen.count));
      seen.count = 0;
    }
  }

  #pass(entry: ErrorEntry): void {
    if (this.#reported++ < MAX_REPORTED) return this.#report(entry);
    this.#late.push(entry);
    if (this.#late.length > MAX_REPORTED) this.#late.shift();
  }
}

function counted(entry: ErrorEntry, count: number): ErrorEntry {
  return count === 1 ? entry : { ...entry, tags: { ...entry.tags, count: String(count) } };
}

/** What equal entries have in common: numbers, addresses and times stand aside. */
function identity({ level, message, exception, tags = {} }: ErrorEntry): string {
  return [level, tags.stream, message, exception].join("\0").replace(
    /0x[\da-f]+|\b[\da-f]{8,}\b|\d+/gi,
    "0",
  );
}
