/** A clock of epoch nanoseconds that never goes back and never stops. */

/** The two clocks of the machine, in milliseconds. */
export interface Clocks {
  /** Milliseconds since the epoch; may be set forward and back. */
  wall(): number;
  /** Milliseconds since any moment; never goes back. */
  steady(): number;
}

const machine: Clocks = { wall: Date.now, steady: () => performance.now() };

/**
 * Epoch nanoseconds now: the wall clock. If that is set back, time continues from the last value, so
 * that windows never overlap and never wait for the wall clock to catch up.
 */
export function createClock({ wall, steady }: Clocks = machine): () => bigint {
  let last_ms = wall();
  let steady_ms = steady();
  return () => {
    const now_ms = steady();
    last_ms = Math.max(wall(), last_ms + (now_ms - steady_ms));
    steady_ms = now_ms;
    return BigInt(Math.floor(last_ms)) * 1_000_000n;
  };
}
