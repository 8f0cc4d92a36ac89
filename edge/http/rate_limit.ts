/** Rate limits: a token bucket for each key. */

import { Lru } from "@service/core/lru";

/** The rate of a limit. */
export interface RateLimitOptions {
  per_second: number;
  /** The time, milliseconds. */
  now_ms: () => number;
}

interface Bucket {
  tokens: number;
  at_ms: number;
}

/** A full bucket holds the tokens of this many seconds. */
export const BURST_SECONDS = 10;

const MAX_BUCKETS = 10_000;

/** A token bucket for each key, in the memory of this process. */
export class RateLimit {
  readonly per_second: number;
  readonly burst: number;
  readonly #now_ms: () => number;
  readonly #buckets = new Lru<string, Bucket>({ max: MAX_BUCKETS });

  /** With full buckets. */
  constructor({ per_second, now_ms }: RateLimitOptions) {
    this.per_second = per_second;
    this.burst = per_second * BURST_SECONDS;
    this.#now_ms = now_ms;
  }

  /** Spends one token of a key: returns 0, or the whole seconds to wait for one. */
  spend(key: string): number {
    const bucket = this.#filled(key);
    if (bucket.tokens >= 1) {
      bucket.tokens--;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - bucket.tokens) / this.per_second));
  }

  #filled(key: string): Bucket {
    const now_ms = this.#now_ms();
    let bucket = this.#buckets.get(key);
    if (!bucket) this.#buckets.set(key, bucket = { tokens: this.burst, at_ms: now_ms });
    const seconds = Math.max(0, now_ms - bucket.at_ms) / 1000;
    bucket.tokens = Math.min(this.burst, bucket.tokens + seconds * this.per_second);
    bucket.at_ms = now_ms;
    return bucket;
  }
}
