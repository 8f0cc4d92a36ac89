/** One measured figure, beside what it must reach and what a peer or the machine itself does. */
export interface Row {
  what: string;
  figure: number;
  unit: string;
  /** What the figure must reach: at least or at most. */
  target?: { atLeast: number } | { atMost: number };
  /** The same work by a peer, or the limit of the machine, in the same run. */
  beside?: { what: string; figure: number };
}

/** Whether the figure reaches its target; `undefined` where it has none. */
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
