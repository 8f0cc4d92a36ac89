/** Time: epoch nanoseconds (`_ns`), whole epoch seconds (`_ts`) and decimal seconds of a query. */

/** Nanoseconds in a second. */
export const SECOND_NS = 1_000_000_000n;

/** The last instant that fits a signed 64-bit integer, in the year 2262. */
export const LAST_NS: bigint = 2n ** 63n - 1n;

/** Epoch nanoseconds of whole epoch seconds. */
export function nsFromTs(ts: number): bigint {
  return BigInt(ts) * SECOND_NS;
}

/** The whole epoch second that `ns` falls in. */
export function tsFromNs(ns: bigint): number {
  return Number(ns / SECOND_NS);
}

/**
 * Epoch nanoseconds of decimal epoch seconds as a query writes them, exact to the last digit:
 * `"1790000000.5"` is `1790000000500000000n`. The `unit` of a length of time is `"seconds"`.
 *
 * @throws {RangeError} If `text` is not seconds with at most nine decimals, up to {@linkcode LAST_NS};
 * its message says so, with the unit.
 */
export function nsFromSeconds(
  text: string,
  unit: "epoch seconds" | "seconds" = "epoch seconds",
): bigint {
  const match = /^(\d{1,10})(?:\.(\d{1,9})0*)?$/.exec(text);
  const ns = match ? BigInt(match[1]! + (match[2] ?? "").padEnd(9, "0")) : -1n;
  if (ns < 0n || ns > LAST_NS) {
    throw new RangeError(
      `must be ${unit} from 0 to ${secondsFromNs(LAST_NS)}, with at most nine decimals` +
        `: got ${JSON.stringify(text.slice(0, 40))}`,
    );
  }
  return ns;
}

/** Decimal epoch seconds of `ns`, exact and without trailing zeros, as a query takes them. */
export function secondsFromNs(ns: bigint): string {
  const fraction = String(ns % SECOND_NS).padStart(9, "0").replace(/0+$/, "");
  return `${ns / SECOND_NS}${fraction && "."}${fraction}`;
}

/** The instant, or the next one at a whole second. */
export function wholeSecond(ns: bigint): bigint {
  return (ns + SECOND_NS - 1n) / SECOND_NS * SECOND_NS;
}

/** The earlier of two instants. */
export function earlier(a_ns: bigint, b_ns: bigint): bigint {
  return a_ns < b_ns ? a_ns : b_ns;
}

/** The later of two instants. */
export function later(a_ns: bigint, b_ns: bigint): bigint {
  return a_ns > b_ns ? a_ns : b_ns;
}
