/** Row of the benchmark table: a measured figure, its target and a comparison. */
export interface Row {
  /** Label: the subject, then the conditions, separated by commas. */
  what: string;
  figure: number;
  unit: string;
  /** Limit that the figure must keep. */
  target?: { atLeast: number } | { atMost: number };
  /** Figure for the same work by another program or by the platform alone, in the same run. */
  comparison?: { what: string; figure: number };
}

/** Whether the figure reaches its target; `undefined` without a target. */
export function reaches({ figure, target }: Row): boolean | undefined {
  if (!target) return undefined;
  return "atLeast" in target ? figure >= target.atLeast : figure <= target.atMost;
}

/** Median milliseconds of `work`, after a warm-up. */
export async function medianMs(work: () => unknown, times = 25): Promise<number> {
  const took: number[] = [];
  for (let i = -3; i < times; i++) {
    const start = performance.now();
    await work();
    if (i >= 0) took.push(performance.now() - start);
  }
  return took.sort((a, b) => a - b)[times >> 1]!;
}
