/** The summary of a run file: its instance, and the time that its windows cover. */

import type { Instance, Interval } from "@service/core";
import { gapsIn, joinInterval, overlap } from "@service/core/gaps";
import type { InstanceHead, WindowHead } from "@service/core/packed";
import { listedInstance } from "../base/instance.ts";

/** What is known of a run from the windows of its file that were passed to it. */
export class RunSummary {
  readonly #head: InstanceHead;
  readonly #covered: Interval[] = [];
  #final = false;

  /** The summary of a run without windows. */
  constructor(instance: InstanceHead) {
    this.#head = instance;
  }

  /** Adds a window, which follows those before it. */
  add({ from_ns, to_ns, final }: WindowHead): void {
    joinInterval(this.#covered, { from_ns, to_ns });
    this.#final = final;
  }

  /** Start of the run, epoch nanoseconds. */
  get start_ns(): bigint {
    return this.#head.start_ns;
  }

  /** End of its newest window, epoch nanoseconds. */
  get last_ns(): bigint {
    return this.#covered.at(-1)?.to_ns ?? this.start_ns;
  }

  /** Whether a window that ends at an instant is the last of the run. */
  isLast(to_ns: bigint): boolean {
    return this.#final && to_ns === this.last_ns;
  }

  /** Whether its last window is in the file. */
  get isFinal(): boolean {
    return this.#final;
  }

  /** The instance in a list. */
  get instance(): Promise<Instance> {
    return listedInstance(this.#head, this.last_ns);
  }

  /**
   * The instant up to which all is known that a read of `span` merges, whose last window ends at
   * `end_ns`: no window of the run begins before it and ends later.
   */
  payloadOf({ from_ns, to_ns }: Interval, end_ns: bigint | undefined): bigint {
    if (this.#final && this.last_ns <= to_ns) return to_ns;
    const known_ns = end_ns ?? from_ns;
    const next = this.#covered.find((interval) => interval.to_ns > known_ns);
    const next_ns = next && next.from_ns > known_ns ? next.from_ns : known_ns;
    return next_ns < to_ns ? next_ns : to_ns;
  }

  /** The parts of a span that no window covers, while the run went on. */
  gapsIn(asked: Interval): Interval[] {
    const span = overlap(asked, { from_ns: this.start_ns, to_ns: this.last_ns });
    const within = ({ from_ns, to_ns }: Interval) => to_ns > span.from_ns && from_ns < span.to_ns;
    return gapsIn(this.#covered.filter(within), span);
  }
}
