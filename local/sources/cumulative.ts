/** Cumulative readings made into increases. */

import type { Sum } from "@service/core";
import { difference } from "@service/core/sum";

/** Parts of a second that add up exactly in doubles, in any order, unlike hundredths. */
const EXACT_PARTS = 2 ** 20;

/** A cumulative time to the nearest 2^-20 s, so that increases of it add up exactly for every reader. */
export function exactSeconds(seconds: number): number {
  return Math.round(seconds * EXACT_PARTS) / EXACT_PARTS;
}

/** Whether all that a source counted before its first reading belongs to the instance. */
export type FirstReading = "counts" | "is the base";

/** The last readings of one source (a process, the host), to tell what each has gained since. */
export class Readings {
  readonly #first: FirstReading;
  readonly #last = new Map<string, number>();

  /** For a source that started with the instance or later, or one that was there before it. */
  constructor(first: FirstReading) {
    this.#first = first;
  }

  /** What `name` gained since its last reading. One that falls has started again from zero. */
  increase(name: string, reading: number): Sum {
    const last = this.#last.get(name) ?? (this.#first === "counts" ? 0 : reading);
    this.#last.set(name, reading);
    return reading < last ? reading : difference(reading, last);
  }
}
