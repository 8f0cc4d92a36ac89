/** Courses of the steady part: one number a step, of all series of a metric. */

import type { InstanceFacts } from "../facts/mod.ts";
import { mean } from "./measures.ts";

/** The sum of all series of a name in each steady step; `null` where a step has none. */
export function steadyCourse(
  { courses, first_steady_step, steps }: InstanceFacts,
  isMeant: (metric: string, tags: Readonly<Record<string, string>>) => boolean,
): (number | null)[] {
  const sums = new Array<number | null>(steps.length).fill(null);
  for (const { metric, tags, values } of courses) {
    if (!isMeant(metric, tags)) continue;
    values.forEach((value, at) => {
      if (value !== null) sums[at] = (sums[at] ?? 0) + value;
    });
  }
  return sums.slice(first_steady_step);
}

/** Names of the gauges that count the requests which engines work on. */
export function runningMetrics({ engines }: InstanceFacts): ReadonlySet<string> {
  return new Set(engines.flatMap(({ metrics }) => metrics.running ?? []));
}

/** Share of the time with work on a device in each steady step, of the process with most. */
export function busyCourse(facts: InstanceFacts, uuid: string): number[] {
  const { courses, first_steady_step, steps } = facts;
  const shares = new Array<number>(steps.length).fill(0);
  for (const { metric, tags, values } of courses) {
    if (metric !== "gpu_busy_nanoseconds" || tags["device.uuid"] !== uuid) continue;
    values.forEach((value, at) => shares[at] = Math.max(shares[at]!, (value ?? 0) / 1e9));
  }
  return shares.slice(first_steady_step);
}

/** Seconds of the steady steps. */
export function steadySeconds({ steps, first_steady_step }: InstanceFacts): number[] {
  return steps.slice(first_steady_step).map(({ seconds }) => seconds);
}

/** Pearson's correlation of two courses, over the steps that have both; 0 where one does not vary. */
export function correlation(
  a: readonly (number | null)[],
  b: readonly (number | null)[],
): number {
  const pairs = a.flatMap((x, at) => {
    const y = b[at] ?? null;
    return x === null || y === null ? [] : [[x, y] as const];
  });
  if (pairs.length < 3) return 0;
  const [x, y] = [mean(pairs.map(([one]) => one)), mean(pairs.map(([, one]) => one))];
  let [both, ofX, ofY] = [0, 0, 0];
  for (const [one, other] of pairs) {
    both += (one - x) * (other - y);
    ofX += (one - x) ** 2;
    ofY += (other - y) ** 2;
  }
  return ofX > 0 && ofY > 0 ? both / Math.sqrt(ofX * ofY) : 0;
}
