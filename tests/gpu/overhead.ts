/** Overhead of profiling: steps per second with and without the profiler, in interleaved pairs. */

import { type Finding, finding } from "./finding.ts";
import { type GraphMode, plain, profiled } from "./runs.ts";

const PAIRS = 12;
const SECONDS = "4";

/** Loops of the workload, and the limit of each one's slowdown in percent. */
const LOOPS: { loop: string; mode: GraphMode; atMost: number }[] = [
  { loop: "gpu", mode: "graph", atMost: 1 },
  { loop: "launch", mode: "graph", atMost: 3 },
  { loop: "graph", mode: "graph", atMost: 1 },
  { loop: "graph", mode: "node", atMost: 5 },
];

/** Measures every loop. */
export async function* measureOverhead(workload: string): AsyncGenerator<Finding> {
  for (const { loop, mode, atMost } of LOOPS) {
    const command = [workload, "loop", loop, SECONDS];
    const slower: number[] = [];
    for (let pair = 0; pair < PAIRS; pair++) slower.push(await measurePair(command, mode, pair));
    const { median, low, high } = medianOf(slower);
    yield finding(
      `${loop} loop in ${mode} mode: slower by`,
      `${median.toFixed(2)} % (95 %: ${low.toFixed(2)} to ${high.toFixed(2)}, ${PAIRS} pairs)`,
      median <= atMost,
      `at most ${atMost} %`,
    );
  }
}

/** Slowdown in percent; the profiled run is the first in every other pair. */
async function measurePair(command: string[], mode: GraphMode, pair: number): Promise<number> {
  const bare = async () => Number((await plain(command)).stdout);
  const measured = async () => Number((await profiled(command, mode)).stdout);
  if (pair % 2 === 0) {
    const without = await bare();
    return (without / await measured() - 1) * 100;
  }
  const withProfiler = await measured();
  return (await bare() / withProfiler - 1) * 100;
}

/** The median with its 95 % confidence interval, for any distribution. */
export function medianOf(values: number[]): { median: number; low: number; high: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = outerRank(sorted.length);
  const middle = (sorted.length - 1) / 2;
  return {
    median: (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2,
    low: sorted[rank]!,
    high: sorted[sorted.length - 1 - rank]!,
  };
}

/** Count of values outside the interval on either side: at most 2.5 % of the binomial distribution. */
function outerRank(count: number): number {
  let chance = 0.5 ** count;
  let below = chance;
  let rank = 0;
  for (let k = 1; below <= 0.025; k++) {
    rank = k;
    chance *= (count - k + 1) / k;
    below += chance;
  }
  return Math.max(0, rank - 1);
}
