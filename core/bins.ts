/**
 * Log-linear bins: base 2, eight equal bins per octave, so that a bin is at most 12.5 % wide.
 *
 * The index of a bin is the top bits of the IEEE 754 double: the exponent and the first three bits of
 * the fraction (`bits >> 49`), with the sign of the value. Indexes have the order of the values. Bin 0
 * holds zero and all values too small for a normal double (below 2.3e-308).
 */

/** Counts by bin index. */
export type Bins = Map<number, number>;

const FRACTION_BITS_DROPPED = 17;

/** The index of the first bin above zero, which starts at the smallest normal double. */
export const FIRST_BIN: number = 1 << 3;

/** The index of the last bin, which ends at the largest double. */
export const LAST_BIN: number = (0x7fe << 3) + 7;

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;

/**
 * Index of the bin that `value` falls in.
 *
 * @throws {RangeError} If `value` is not finite.
 */
export function binIndex(value: number): number {
  if (!Number.isFinite(value)) {
    throw new RangeError(`Cannot bin a value: must be finite: got ${value}`);
  }
  double[0] = Math.abs(value);
  const index = words[HIGH]! >>> FRACTION_BITS_DROPPED;
  if (index < FIRST_BIN) return 0;
  return value < 0 ? -index : index;
}

/** Whether `index` is the index of a bin. */
export function isBinIndex(index: number): boolean {
  const magnitude = Math.abs(index);
  return Number.isInteger(index) &&
    (magnitude === 0 || (magnitude >= FIRST_BIN && magnitude <= LAST_BIN));
}

/** Representative value of a bin: its middle, at most 6.25 % from any value in it. */
export function binValue(index: number): number {
  if (index === 0) return 0;
  const magnitude = Math.abs(index);
  const middle = lowerEdge(magnitude) / 2 +
    (magnitude === LAST_BIN ? Number.MAX_VALUE : lowerEdge(magnitude + 1)) / 2;
  return index < 0 ? -middle : middle;
}

/** Counts one or more values into `bins`. */
export function count(bins: Bins, index: number, times = 1): void {
  bins.set(index, (bins.get(index) ?? 0) + times);
}

/** Bins up to which it is faster to insert one after the other: merged bins are nearly in order. */
const FEW_BINS = 64;

/** The indexes of bins, ascending. */
export function sortedIndexes(bins: Bins): number[] | Int32Array {
  if (bins.size > FEW_BINS) return Int32Array.from(bins.keys()).sort();
  const sorted: number[] = [];
  for (const index of bins.keys()) {
    let at = sorted.length;
    sorted.push(index);
    for (; at > 0 && sorted[at - 1]! > index; at--) sorted[at] = sorted[at - 1]!;
    sorted[at] = index;
  }
  return sorted;
}

/**
 * Quantile `q` by nearest rank: the value of the smallest bin with at least the fraction `q` of the
 * values in it and below; `null` without values.
 *
 * @throws {RangeError} If `q` is outside `[0, 1]`.
 */
export function binQuantile(bins: Bins, q: number): number | null {
  if (!(q >= 0 && q <= 1)) {
    throw new RangeError(`Cannot take a quantile: q must be in [0, 1]: got ${q}`);
  }
  let total = 0;
  for (const times of bins.values()) total += times;
  const rank = Math.max(1, Math.ceil(q * total));
  let cumulative = 0;
  for (const index of sortedIndexes(bins)) {
    cumulative += bins.get(index)!;
    if (cumulative >= rank) return binValue(index);
  }
  return null;
}

function lowerEdge(index: number): number {
  words[1 - HIGH] = 0;
  words[HIGH] = index << FRACTION_BITS_DROPPED;
  return double[0]!;
}
