/** Digests of windows: equal ones have equal content, whichever row they are in. */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { Value } from "../database/database.ts";

/** Bytes of a digest. */
const DIGEST_BYTES = 16;

/** The digest of a window, by all bytes that it came in. */
export function digestOf(content: Uint8Array): Uint8Array<ArrayBuffer> {
  const digest = createHash("sha256").update(content).digest();
  return new Uint8Array(digest.subarray(0, DIGEST_BYTES));
}

/** The digest of a row, as text. */
export function digestText(digest: Value | undefined): string {
  return Buffer.from(digest as ArrayBuffer).toString("latin1");
}
