/** What one check has found, as a row of the table. */
export interface Finding {
  what: string;
  found: string;
  /** What it must be. */
  expected?: string;
  /** Whether it is; `undefined` where it is only told. */
  holds?: boolean;
}

/** A check that holds or not. */
export function finding(what: string, found: string, holds: boolean, expected: string): Finding {
  return { what, found, holds, expected };
}

/** Something worth knowing. */
export function told(what: string, found: string): Finding {
  return { what, found };
}
