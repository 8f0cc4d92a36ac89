/** Digests of windows: equal ones have equal content, whichever row they are in. */

import { createHash } from "node:crypto";

/** Bytes of a digest. */
const DIGEST_BYTES = 16;

/** The digest of a window, by all bytes that it came in. */
export function digestOf(content: Uint8Array): Uint8Array<ArrayBuffer> {
  const digest = createHash("sha256").update(content).digest();
  return new Uint8Array(digest.subarray(0, DIGEST_BYTES));
}
