/** The schemas that all parts of the interface share: names, tags, values and exact sums. */

import { MAX_MAGNITUDE, MAX_NAME_LENGTH, MAX_TAGS, MAX_VALUE_LENGTH } from "./limits.ts";
import { integer, list, mapped, number, quantityUpTo, type Shape, tagsOf, text } from "./schema.ts";
import { ShapeError } from "./schema_error.ts";
import { exact, isSum, type Quantity, type Sum } from "./sum.ts";
import type { Tags } from "./tags.ts";
import { LAST_NS, tsFromNs } from "./time.ts";

/** A metric's, frame's or kind's name. */
export const name: Shape<string> = text({ min: 1, max: MAX_NAME_LENGTH });

/** Tags or attributes. */
export const tags: Shape<Tags> = upToTags(MAX_TAGS);

/** Tags or attributes, at most `max`. */
export function upToTags(max: number): Shape<Tags> {
  return tagsOf(name, text({ max: MAX_VALUE_LENGTH }), max);
}

/** A value of a gauge, counter, histogram or frame. */
export const value: Shape<Quantity> = quantityUpTo(MAX_MAGNITUDE);

/** A number derived from measured values: a bound, an extreme, a mean, a quantile. */
export const double: Shape<number> = number(-MAX_MAGNITUDE, MAX_MAGNITUDE);

/** Whole epoch seconds, up to the last instant of epoch nanoseconds. */
export const epochSeconds: Shape<number> = integer(0, tsFromNs(LAST_NS));

/** A count of values or samples. */
export const times: Shape<number> = integer(0);

const sumPart = mapped(value, (given) => {
  const part = Number(given);
  if (typeof given === "bigint" && BigInt(part) !== given) {
    throw new ShapeError("", `must be a number that a double holds: got ${given}`);
  }
  return part;
});

const sumParts = list(sumPart, { min: 2 });

/** An exact sum: a number, or its parts if one double cannot hold it. */
export const sum: Shape<Sum> = {
  schema: { anyOf: [value.schema, sumParts.schema] },
  check(given) {
    if (!Array.isArray(given)) return exact(value.check(given));
    const parts = sumParts.check(given);
    if (!isSum(parts)) {
      throw new ShapeError("", "must be a number, or the parts of an exact sum, largest first");
    }
    return parts;
  },
};

/** The exact sum of increases: never negative. */
export const increase: Shape<Sum> = mapped(sum, (checked) => {
  const first = typeof checked === "number" ? checked : checked[0]!;
  if (first < 0) throw new ShapeError("", `must not be negative: got ${first}`);
  return checked;
});
