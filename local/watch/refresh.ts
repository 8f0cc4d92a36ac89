/** Refreshes: a reader of the local endpoint gets values of now, not of the last tick. */

import type { Sampler } from "./sampler.ts";
import type { Ticker } from "./ticker.ts";

/** A reader gets values that are not older than this, and waits for them at most as long. */
const FRESH_MS = 20;

/** What reading the answers may take beside waiting for them. */
const GRACE_MS = 10;

/** The sampler to refresh, and the ticker that must not run at the same time. */
export interface RefreshOptions {
  sampler: Sampler;
  ticker: Pick<Ticker, "alone">;
  /** Milliseconds on a steady clock. */
  now_ms?: () => number;
}

/**
 * A function that brings the sampler's total up to now; its result is `undefined` if there is nothing
 * to wait for. All readers that ask meanwhile share one refresh, and none waits for a long tick.
 */
export function createRefresh(
  { sampler, ticker, now_ms = () => performance.now() }: RefreshOptions,
): () => Promise<void> | undefined {
  let measured_ms = -Infinity;
  let refreshing: Promise<void> | undefined;

  async function measure(): Promise<void> {
    if (await sampler.refresh()) measured_ms = now_ms();
  }

  return () => {
    if (now_ms() - measured_ms < FRESH_MS || !sampler.canRefresh()) return undefined;
    refreshing ??= ticker.alone(measure).finally(() => refreshing = undefined);
    return atMost(refreshing, FRESH_MS + GRACE_MS);
  };
}

/** Resolves when `work` does, or after `limit_ms`; a failure of the work is not this reader's. */
async function atMost(work: Promise<void>, limit_ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((done) => timer = setTimeout(done, limit_ms));
  await Promise.race([work.catch(() => {}), late]);
  clearTimeout(timer);
}
