/** Durations as operators write them: `30m`, `24h`, `7d`. */

import { SECOND_NS } from "@service/core/time";

const UNITS: Record<string, bigint> = { s: 1n, m: 60n, h: 3_600n, d: 86_400n };

/** Form of a duration, as a regular expression. */
export const DURATION = "\\d{1,4}[smhd]";

/**
 * Nanoseconds of a duration such as `90s`, `30m`, `24h`, `7d`.
 *
 * @throws {RangeError} If the text is not a duration.
 */
export function durationNs(text: string): bigint {
  if (!new RegExp(`^${DURATION}$`).test(text)) {
    throw new RangeError(`must be a duration such as 30m, 24h or 7d: got ${JSON.stringify(text)}`);
  }
  return BigInt(text.slice(0, -1)) * UNITS[text.at(-1)!]! * SECOND_NS;
}
