/** The clockwork of the watcher: work each second, and never two pieces of work at once. */

import { SECOND_NS } from "@service/core/time";

/** A ticker's work and its clock. */
export interface TickerOptions {
  now_ns: () => bigint;
  /** The work of each second; a failure ends only this tick. */
  tick(): Promise<void>;
  /** Is called for a tick that failed. */
  failed(error: unknown): void;
}

/** A tick that comes before its second is over measures nothing. */
const MARGIN_MS = 1;

/** Ticks just after each whole second, until it is stopped. */
export class Ticker {
  readonly #options: TickerOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;
  #ticking: Promise<void> = Promise.resolve();
  #working: Promise<unknown> = Promise.resolve();

  /** A ticker that has not started yet. */
  constructor(options: TickerOptions) {
    this.#options = options;
  }

  /** Does `work` first; ticks begin when it is done. */
  start(work: () => Promise<void>): Promise<void> {
    const first = this.alone(work);
    this.#ticking = first.then(() => this.#schedule());
    return first;
  }

  /** Does `work` after all work that was asked for before, ticks among it. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#working.then(work);
    this.#working = done.catch(() => {});
    return done;
  }

  /** Ticks no more; resolves when the tick under way is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#ticking;
  }

  #schedule(): void {
    if (this.#stopped) return;
    const { now_ns, tick, failed } = this.#options;
    const untilNextSecond_ms = 1_000 - Number(now_ns() % SECOND_NS) / 1e6;
    this.#timer = setTimeout(() => {
      this.#ticking = this.alone(tick).catch(failed).then(() => this.#schedule());
    }, untilNextSecond_ms + MARGIN_MS);
  }
}
