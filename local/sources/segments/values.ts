/** The values of a segment's cells: two 64-bit numbers each, and their increases since the last recording. */

import { difference, exact, type Sum } from "@service/core/sum";
import { refuseSegment } from "./layout.ts";

/** The first or the second number of a cell. */
export type Half = 0 | 1;

const WORDS_OF_CELL = 4;
const WORD = 2 ** 32;

/** Values at the last reading and at the last recording. */
export class CellValues {
  // Pairs of 32-bit words: a BigInt for each number would allocate megabytes.
  #now: Uint32Array = new Uint32Array(0);
  #recorded: Uint32Array = new Uint32Array(0);

  /** Takes the words of a reading, of as many cells as there are by now. */
  update(words: Uint32Array): void {
    this.#now = words;
    if (this.#recorded.length >= words.length) return;
    const grown = new Uint32Array(words.length);
    grown.set(this.#recorded);
    this.#recorded = grown;
  }

  /** Counts further increases from the last reading on. */
  markRecorded(): void {
    this.#recorded = this.#now;
  }

  /** Whether the cell has changed since the last recording. */
  isChanged(cell: number): boolean {
    const now = this.#now;
    const before = this.#recorded;
    const word = cell * WORDS_OF_CELL;
    return now[word] !== before[word] || now[word + 1] !== before[word + 1] ||
      now[word + 2] !== before[word + 2] || now[word + 3] !== before[word + 3];
  }

  /** The number itself, rounded to a double. */
  value(cell: number, half: Half): number {
    return Number(word64(this.#now, wordOf(cell, half)));
  }

  /** The quotient of the two numbers, or `null` if nothing is measured at present. */
  quotient(cell: number): number | null {
    const divisor = this.value(cell, 1);
    return divisor === 0 ? null : this.value(cell, 0) / divisor;
  }

  /**
   * The increase of the quotient of the two numbers since the last recording.
   *
   * @throws {SegmentRefusal} If it fell.
   */
  increaseOfQuotient(cell: number): Sum {
    const increase = this.increase(cell, 0);
    const divisor = this.value(cell, 1);
    if (divisor <= 1) return increase;
    // Increases add up to the difference of the quotients, exactly.
    const before = Number(word64(this.#recorded, wordOf(cell, 0)));
    return difference(this.value(cell, 0) / divisor, before / divisor);
  }

  /**
   * The increase of the number since the last recording.
   *
   * @throws {SegmentRefusal} If it fell.
   */
  increase(cell: number, half: Half): Sum {
    const now = this.#now;
    const before = this.#recorded;
    const word = wordOf(cell, half);
    const high = now[word + 1]!;
    const high_before = before[word + 1]!;
    const low = now[word]! - before[word]!;
    if (high < high_before || (high === high_before && low < 0)) refuseSegment("a value fell");
    // Exact in a double up to 2^53.
    if (high - high_before < 2 ** 20) return (high - high_before) * WORD + low;
    return exact(word64(now, word) - word64(before, word));
  }

  /**
   * The increase of a number of events.
   *
   * @throws {SegmentRefusal} If it fell, or is not exact.
   */
  count(cell: number, half: Half): number {
    const increase = this.increase(cell, half);
    if (typeof increase === "number" && Number.isSafeInteger(increase)) return increase;
    return refuseSegment("it counts past 2^53");
  }
}

function wordOf(cell: number, half: Half): number {
  return cell * WORDS_OF_CELL + half * 2;
}

function word64(words: Uint32Array, word: number): bigint {
  return BigInt(words[word + 1] ?? 0) << 32n | BigInt(words[word] ?? 0);
}
