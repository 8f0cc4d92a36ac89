/** The sampler: asks the sources in turn and gathers their windows. */

import type { Window } from "@service/core";
import { SECOND_NS } from "@service/core/time";
import { Recorder } from "../sources/recorder.ts";
import type { Source } from "../sources/source.ts";
import { Accumulator, endsCut } from "./accumulator.ts";
import type { History } from "./history.ts";

/** The sources to sample, and the start of the run. */
export interface SamplerOptions {
  start_ns: bigint;
  now_ns: () => bigint;
  sources: readonly Source[];
  /** Takes each window, one after the other. */
  history: Pick<History, "add">;
  /** Writes a message to the user. */
  log: (message: string) => void;
}

/** Time that the windows of an instance cover: what a rate or a share is divided by. */
const COVERED = "profiler_covered_nanoseconds";

/** Samples the sources, up to a whole second or up to now; its functions never run two at a time. */
export class Sampler {
  readonly #now_ns: () => bigint;
  readonly #log: (message: string) => void;
  readonly #sources: Source[];
  readonly #history: SamplerOptions["history"];
  readonly #failed = new Set<Source>();
  readonly #recorder: Recorder;
  readonly #accumulator: Accumulator;
  /** The end of the last tick; refreshes may have measured further. */
  #ticked_ns: bigint;
  /** The end of the window that is being measured. */
  #to_ns: bigint | undefined;
  /** The end of the run: the time that windows cover ends there. */
  #ended_ns: bigint | undefined;
  #settled = false;

  /** A sampler that has measured nothing yet. */
  constructor({ start_ns, now_ns, sources, history, log }: SamplerOptions) {
    this.#now_ns = now_ns;
    this.#log = log;
    this.#sources = [...sources];
    this.#history = history;
    this.#recorder = new Recorder(start_ns, () => this.#to_ns ?? now_ns());
    this.#accumulator = new Accumulator(start_ns);
    this.#ticked_ns = start_ns;
  }

  /** Everything since the instance start. */
  get total(): Window {
    return this.#accumulator.total;
  }

  /** Adds a source; it is sampled from the next tick on. */
  add(source: Source): void {
    this.#sources.push(source);
  }

  /** Tells the user, in the log and in `errors`. */
  warn(message: string): void {
    this.#log(message);
    this.#recorder.warn(message);
  }

  /** Measures a window that ends at `to_ns`; `skipped` ticks did not take place before it. */
  async sample(to_ns: bigint, skipped = 0): Promise<void> {
    this.#to_ns = to_ns;
    for (const source of this.#sources) {
      try {
        await source.sample(this.#recorder);
      } catch (error) {
        if (!this.#failed.has(source)) {
          this.warn(`a source failed, its metrics are missing: ${error}`);
        }
        this.#failed.add(source);
      }
    }
    this.#recorder.counter("profiler_skipped_ticks_total", {}, skipped);
    this.#ticked_ns = to_ns;
    await this.#keep(to_ns);
  }

  /**
   * Measures up to the whole second just passed; a late tick stands for those that it missed. Answers
   * whether a cut is due.
   */
  async tick(): Promise<boolean> {
    const last_ns = this.#ticked_ns;
    const to_ns = this.#now_ns() / SECOND_NS * SECOND_NS;
    if (to_ns <= last_ns) return false;
    await this.sample(to_ns, Math.max(0, Number((to_ns - last_ns) / SECOND_NS) - 1));
    return endsCut({ from_ns: last_ns, to_ns });
  }

  /** Whether {@linkcode Sampler.refresh} would measure anything. */
  canRefresh(): boolean {
    return this.#sources.some((source) => source.canRefresh?.());
  }

  /**
   * Measures up to now where a source can do that at once, never past the next tick, whose window ends
   * on its second. Answers whether it measured.
   */
  async refresh(): Promise<boolean> {
    const next_ns = (this.#ticked_ns / SECOND_NS + 1n) * SECOND_NS;
    const now_ns = this.#now_ns();
    const last_ns = this.total.to_ns;
    const until_ns = now_ns < next_ns ? now_ns : next_ns - 1n;
    const to_ns = until_ns > last_ns ? until_ns : last_ns + 1n;
    if (this.#settled || to_ns >= next_ns) return false;
    this.#to_ns = to_ns;
    for (const source of this.#sources) {
      if (!source.canRefresh?.()) continue;
      // The tick meets the same fault, and warns of it.
      await source.refresh?.(this.#recorder).catch(() => {});
    }
    await this.#keep(to_ns);
    return true;
  }

  /** Ends the run at `ended_ns`: the rest is still measured, and counts as part of the time until then. */
  end(ended_ns: bigint): void {
    this.#ended_ns = ended_ns;
  }

  /** Lets the sources read at once what the workload may soon take with it. */
  hurry(): void {
    for (const source of this.#sources) source.hurry?.();
  }

  /** Prepares the sources for the last sample; no refresh happens after it. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#sources.map((source) => source.settle?.()));
    this.#settled = true;
  }

  /** The window since the last cut, for upload. */
  cut(): Window {
    return this.#accumulator.cut();
  }

  async #keep(to_ns: bigint): Promise<void> {
    const until_ns = this.#ended_ns ?? to_ns;
    const covered_ns = (until_ns < to_ns ? until_ns : to_ns) - this.total.to_ns;
    this.#recorder.counter(COVERED, {}, Math.max(0, Number(covered_ns)));
    const window = this.#recorder.cut(to_ns, { isLast: this.#settled });
    this.#to_ns = undefined;
    this.#accumulator.add(window);
    await this.#history.add(window);
  }
}
