import { LAST_NS } from "@service/core/time";
import type { StoredInstance } from "./instance.ts";

/** The instance that a page of the list ended with. */
export interface Cursor {
  start_ns: bigint;
  /** Row id. */
  id: bigint;
}

/** The cursor behind an instance: text that says nothing to others. */
export function cursorText({ start_ns, id }: StoredInstance): string {
  return btoa(`${start_ns}.${id}`).replace(/=+$/, "");
}

/**
 * The cursor that a text is.
 *
 * @throws {RangeError} If it is none.
 */
export function cursor(text: string): Cursor {
  const match = /^[A-Za-z0-9]{1,60}$/.test(text)
    ? /^(\d{1,19})\.(\d{1,19})$/.exec(plain(text))
    : null;
  const [start_ns, id] = match ? [BigInt(match[1]!), BigInt(match[2]!)] : [-1n, -1n];
  if (start_ns < 0n || start_ns > LAST_NS || id > LAST_NS) {
    throw new RangeError("must be taken from the Link header of the page before");
  }
  return { start_ns, id };
}

function plain(text: string): string {
  try {
    return atob(text);
  } catch {
    return "";
  }
}
