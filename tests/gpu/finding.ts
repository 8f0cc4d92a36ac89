/** Result of one check: a row of the table. */
export interface Finding {
  /** Subject of the check. */
  what: string;
  /** Measured value. */
  found: string;
  /** Expected value. */
  expected?: string;
  /** Whether the value is as expected; `undefined` for a value that is only reported. */
  holds?: boolean;
}

/** Result of a check with an expected value. */
export function finding(what: string, found: string, holds: boolean, expected: string): Finding {
  return { what, found, holds, expected };
}

/** Value that is only reported. */
export function observation(what: string, found: string): Finding {
  return { what, found };
}
