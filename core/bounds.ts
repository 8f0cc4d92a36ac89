/** Buckets with explicit upper bounds, as in Prometheus histograms. */

/** Counts per bucket; not cumulative as on a Prometheus page. */
export interface Bounds {
  /** Upper bounds: inclusive, finite, ascending. */
  readonly bounds: readonly number[];
  /** One count for each bound, and one for the values above the last. */
  readonly counts: readonly number[];
}

/**
 * Sum of both counts bucket by bucket. Where the bounds differ (the source changed its buckets)
 * only those that both have are kept: the buckets become coarser, and no count is lost.
 */
export function addBounds(a: Bounds, b: Bounds): Bounds {
  return combine(a, b, 1);
}

/** The counts of `a` minus those of `b`, in the bounds that both have. */
export function subtractBounds(a: Bounds, b: Bounds): Bounds {
  return combine(a, b, -1);
}

function combine(a: Bounds, b: Bounds, sign: 1 | -1): Bounds {
  if (a.bounds.length === b.bounds.length && a.bounds.every((bound, i) => bound === b.bounds[i])) {
    return { bounds: a.bounds, counts: a.counts.map((times, i) => times + sign * b.counts[i]!) };
  }
  const common = new Set(b.bounds);
  const bounds = a.bounds.filter((bound) => common.has(bound));
  return combine(coarsen(a, bounds), coarsen(b, bounds), sign);
}

function coarsen(from: Bounds, bounds: readonly number[]): Bounds {
  const counts = new Array<number>(bounds.length + 1).fill(0);
  let bucket = 0;
  from.counts.forEach((times, i) => {
    const upper = from.bounds[i] ?? Infinity;
    while (bucket < bounds.length && bounds[bucket]! < upper) bucket++;
    counts[bucket]! += times;
  });
  return { bounds, counts };
}

/** The bucket that quantile `q` lies in, with its edges. */
export interface QuantileBucket {
  /** Lower edge, exclusive; `null`: it is the first bucket. */
  lower: number | null;
  /** Upper edge, inclusive; `null`: it is the last bucket, above all bounds. */
  upper: number | null;
  /** Share of its values that lie at the quantile or below. */
  share: number;
}

/**
 * The bucket of quantile `q`; `null` without values or bounds.
 *
 * @throws {RangeError} If `q` is outside `[0, 1]`.
 */
export function quantileBucket({ bounds, counts }: Bounds, q: number): QuantileBucket | null {
  if (!(q >= 0 && q <= 1)) {
    throw new RangeError(`Cannot take a quantile: q must be in [0, 1]: got ${q}`);
  }
  const total = counts.reduce((sum, times) => sum + times, 0);
  if (total === 0 || bounds.length === 0) return null;
  const rank = q * total;
  let below = 0;
  let bucket = 0;
  while (bucket < bounds.length && below + counts[bucket]! < rank) below += counts[bucket++]!;
  const inside = counts[bucket]!;
  return {
    lower: bounds[bucket - 1] ?? null,
    upper: bounds[bucket] ?? null,
    share: inside === 0 ? 0 : (rank - below) / inside,
  };
}

/**
 * Quantile `q` as PromQL's `histogram_quantile` gives it: linear inside the bucket, from 0 in a first
 * bucket with a bound above zero, and the last bound for values above it. `null` without values or
 * bounds.
 *
 * @throws {RangeError} If `q` is outside `[0, 1]`.
 */
export function boundsQuantile(bounds: Bounds, q: number): number | null {
  const bucket = quantileBucket(bounds, q);
  if (!bucket) return null;
  const { lower, upper, share } = bucket;
  if (upper === null) return lower;
  if (lower === null && upper <= 0) return upper;
  const from = lower ?? 0;
  // Rounding may step over the bound, and the next bucket's quantiles start there.
  return Math.min(upper, from + (upper - from) * share);
}
