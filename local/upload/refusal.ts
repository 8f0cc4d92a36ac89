/** A refusal: while the service accepts no key of the run, the user is told since when, and why. */

/** Whether the upload of a run is refused. */
export class Refusal {
  readonly #warn: (message: string) => void;
  #since_ms: number | undefined;
  readonly #reasons = new Set<string>();

  /** Tells of no refusal yet; `warn` tells the user. */
  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /** Seconds since it began; 0: there is none. */
  get seconds(): number {
    return this.#since_ms === undefined ? 0 : Math.max(0, Date.now() - this.#since_ms) / 1_000;
  }

  /** Notes a refusal, and tells each of its reasons once. */
  add(reason: string): void {
    this.#since_ms ??= Date.now();
    if (this.#reasons.has(reason)) return;
    this.#reasons.add(reason);
    const kept = "windows are kept and tried again every minute, with the key as it is then";
    this.#warn(`upload is refused since ${utc(this.#since_ms)}, ${kept}: ${reason}`);
  }

  /** Notes that the upload is accepted; whether it was refused before. */
  end(): boolean {
    if (this.#since_ms === undefined) return false;
    this.#warn(`upload is accepted again, it was refused since ${utc(this.#since_ms)}`);
    this.#since_ms = undefined;
    this.#reasons.clear();
    return true;
  }
}

function utc(epoch_ms: number): string {
  return new Date(epoch_ms).toISOString();
}
