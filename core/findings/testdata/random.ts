/** Noise of tests: the same in every run with the same seed. */

/** A source of factors around 1. */
export interface Noise {
  /** Uniform in `[0, 1)`. */
  uniform(): number;
  /** A factor around 1 that spreads by `spread`, three deviations at most. */
  around(spread: number): number;
}

/** The source of a seed (mulberry32). */
export function noiseOf(seed: number): Noise {
  let state = seed | 0;
  function uniform(): number {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  return {
    uniform,
    around(spread) {
      const normal = Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
      return Math.exp(spread * Math.max(-3, Math.min(3, normal)));
    },
  };
}
