/**
 * Which processes have series of their own: the busiest of every second, and they keep them to their
 * end. The number is limited, so that thousands of processes leave room for all other series.
 */

/** What the choice depends on. */
export interface Candidate {
  series: { isOwn: boolean };
  /** Processor time between its last two readings. */
  spent_us: number;
}

/** The busiest of a second, and processes that have series of their own from their first sample on. */
const BUSIEST = 500;

/** Processes with series of their own at a time: those that were among the busiest at some time. */
const MAX_OWN = 2 * BUSIEST;

/** Samples for which the series of an ended process take room: after that they may be evicted. */
const COUNTED_AFTER_END = 20;

/** Chooses the processes with series of their own. */
export class BusiestProcesses {
  #own = 0;
  #ended = 0;
  readonly #endedBefore: number[] = [];

  /** Begins a sample: gives series to the busiest of the last one; answers which have got them. */
  choose<C extends Candidate>(all: readonly C[]): C[] {
    this.#endedBefore.push(this.#ended);
    this.#ended = 0;
    if (this.#endedBefore.length > COUNTED_AFTER_END) this.#own -= this.#endedBefore.shift()!;
    if (all.every(({ series }) => series.isOwn)) return [];
    const chosen: C[] = [];
    for (const [rank, candidate] of all.toSorted((a, b) => b.spent_us - a.spent_us).entries()) {
      if (candidate.series.isOwn) continue;
      const isBusy = rank < BUSIEST && candidate.spent_us > 0;
      if (this.#own >= (isBusy ? MAX_OWN : BUSIEST)) break;
      chosen.push(candidate);
      this.#own++;
    }
    return chosen;
  }

  /** Whether a new process has series of its own. */
  admit(): boolean {
    if (this.#own >= BUSIEST) return false;
    this.#own++;
    return true;
  }

  /** A process with series of its own has ended. */
  ended(): void {
    this.#ended++;
  }
}
