/** Values in an upload's text, within the bounds that their schema sets. */

import type { Quantity, Sum } from "@service/core";
import { MAX_MAGNITUDE } from "@service/core/limits";
import { isSum } from "@service/core/sum";
import { NotCanonical, type TextReader } from "./_text_reader.ts";

/** Parts of one exact sum. */
const MAX_SUM_PARTS = 2 ** 10;

/** Reads a number, exact. */
export function readQuantity(reader: TextReader): Quantity {
  const value = reader.number();
  if (Math.abs(Number(value)) > MAX_MAGNITUDE) throw new NotCanonical();
  return value;
}

/** Reads a number as a double. */
export function readDouble(reader: TextReader): number {
  return Number(readQuantity(reader));
}

/** Reads an exact sum. */
export function readSum(reader: TextReader): Sum {
  if (reader.text[reader.at] !== "[") return readDouble(reader) + 0;
  const parts = reader.list(readDouble, MAX_SUM_PARTS);
  if (!isSum(parts)) throw new NotCanonical();
  return parts;
}

/** Reads an exact sum that is not negative. */
export function readIncrease(reader: TextReader): Sum {
  const sum = readSum(reader);
  if ((typeof sum === "number" ? sum : sum[0]!) < 0) throw new NotCanonical();
  return sum;
}
