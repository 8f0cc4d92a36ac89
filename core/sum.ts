/**
 * Exact sums of doubles, so that adding is associative and windows merge to the same totals in any
 * order. Method: J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic" (1997), section 2.
 */

/** A JSON number. An integer above 2^53 is a `bigint`, since a double may not hold it. */
export type Quantity = number | bigint;

/**
 * An exact sum: a double, or several if one cannot hold it. Each part is the double nearest to the
 * remainder after the parts before it. Equal sums have equal forms.
 */
export type Sum = number | readonly number[];

/**
 * Exact sum of two sums.
 *
 * @throws {RangeError} If the result exceeds the range of a double, or an operand is not finite.
 */
export function addSums(a: Sum, b: Sum): Sum {
  const high = rounded(a) + rounded(b);
  // Nearly all sums have at most two parts, and the result seldom needs more.
  const low = tail(a) + tail(b);
  const error = roundingError(rounded(a), rounded(b), high);
  const rest = error + low;
  if (roundingError(tail(a), tail(b), low) === 0 && roundingError(error, low, rest) === 0) {
    const sum = high + rest;
    const part = roundingError(high, rest, sum);
    return part === 0 ? sum + 0 : [sum, part];
  }
  return canonical([...components(a), ...components(b)]);
}

/** Exact difference of two doubles: the increase of a cumulative reading. */
export function difference(a: number, b: number): Sum {
  return addSums(a, -b);
}

/** A quantity as an exact sum. */
export function exact(quantity: Quantity): Sum {
  if (typeof quantity === "number") return quantity + 0;
  const parts: number[] = [];
  for (let rest = quantity; rest !== 0n; rest -= BigInt(parts.at(-1)!)) parts.push(Number(rest));
  return parts.length > 1 ? parts : parts[0] ?? 0;
}

/** A sum as a quantity: every digit of an integer, else the nearest double. */
export function quantity(sum: Sum): Quantity {
  const nearest = rounded(sum);
  const parts = components(sum);
  if (Number.isSafeInteger(nearest) || !parts.every(Number.isInteger)) return nearest;
  return parts.reduce((total, part) => total + BigInt(part), 0n);
}

/** The double nearest to a sum. */
export function rounded(sum: Sum): number {
  return typeof sum === "number" ? sum : sum[0]!;
}

/** Whether `value` is in the form that {@linkcode addSums} gives. */
export function isSum(value: unknown): value is Sum {
  if (typeof value === "number") return Number.isFinite(value);
  if (!Array.isArray(value) || value.length < 2 || !value.every(isPart)) return false;
  // Two parts are in this form if the first is the double nearest to both: nothing else is left over.
  if (value.length === 2) return value[0] + value[1] === value[0];
  const form = canonical(value);
  return typeof form !== "number" && form.length === value.length &&
    form.every((part, i) => part === value[i]);
}

/** Whether a part may follow the one before it; a cheap test that refuses most other lists. */
function isPart(part: unknown, i: number, parts: readonly unknown[]): boolean {
  if (typeof part !== "number" || !Number.isFinite(part)) return false;
  const before = parts[i - 1] as number;
  return i === 0 ||
    (part !== 0 && Math.abs(part) <= Math.abs(before) * Number.EPSILON &&
      Number.isFinite(before + part));
}

/** The second of at most two parts, or 0; NaN if there are more. */
function tail(sum: Sum): number {
  return typeof sum === "number" ? 0 : sum.length === 2 ? sum[1]! : NaN;
}

function components(sum: Sum): readonly number[] {
  return typeof sum === "number" ? [sum] : sum;
}

/** The rounding error of `sum = a + b`; exact for any two doubles (Knuth's two-sum). */
function roundingError(a: number, b: number, sum: number): number {
  const shadow = sum - a;
  return (a - (sum - shadow)) + (b - shadow);
}

function canonical(values: readonly number[]): Sum {
  let rest = partials(values);
  const parts: number[] = [];
  while (rest.length > 0) {
    const part = nearest(rest);
    parts.push(part);
    rest = part === rest.at(-1) ? rest.slice(0, -1) : partials([...rest, -part]);
  }
  return parts.length > 1 ? parts : parts[0] ?? 0;
}

/** Doubles without overlapping bits, smallest first, that add up to `values` exactly; no zeros. */
function partials(values: readonly number[]): number[] {
  const out: number[] = [];
  for (const value of values) {
    let high = value;
    let kept = 0;
    for (const part of out) {
      const sum = high + part;
      if (!Number.isFinite(sum)) throw new RangeError(`Cannot add: must stay finite: got ${sum}`);
      const error = roundingError(high, part, sum);
      if (error !== 0) out[kept++] = error;
      high = sum;
    }
    out.length = kept;
    if (high !== 0) out.push(high);
  }
  return out;
}

/** The double nearest to the exact sum of `parts`, ties to even, as Python's `math.fsum` rounds. */
function nearest(parts: readonly number[]): number {
  let at = parts.length - 1;
  let high = parts[at]!;
  let low = 0;
  while (at > 0 && low === 0) {
    const part = parts[--at]!;
    const sum = high + part;
    low = roundingError(high, part, sum);
    high = sum;
  }
  const next = at > 0 ? parts[at - 1]! : 0;
  if ((low < 0 && next < 0) || (low > 0 && next > 0)) {
    const up = high + 2 * low;
    if (2 * low === up - high) high = up;
  }
  return high;
}
