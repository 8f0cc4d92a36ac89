/** API keys: their form, their scopes and their hashes. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** All permissions that a key may have. */
export const SCOPES = ["read", "write"] as const;

/** Permission of a key. */
export type Scope = typeof SCOPES[number];

/** A new key: the text for its owner, and its stored prefix and hash. */
export interface NewKey {
  /** Shown once, never stored. */
  key: string;
  /** The start of the key, by which it is found. */
  prefix: string;
  /** SHA-256 of the key. */
  hash: Uint8Array<ArrayBuffer>;
}

const PREFIX_BYTES = 4;
const SECRET_BYTES = 20;
const FORMAT = new RegExp(`^(svc_[0-9a-f]{${2 * PREFIX_BYTES}})_[0-9a-f]{${2 * SECRET_BYTES}}$`);

/** A new random key. */
export function makeKey(): NewKey {
  const prefix = `svc_${randomBytes(PREFIX_BYTES).toString("hex")}`;
  const key = `${prefix}_${randomBytes(SECRET_BYTES).toString("hex")}`;
  return { key, prefix, hash: sha256(key) };
}

/** The prefix of a text in the form of a key, or `null`. */
export function prefixOf(given: string): string | null {
  return FORMAT.exec(given)?.[1] ?? null;
}

/** Whether `given` is the key with this hash; for `null`, an unknown prefix, it takes as long. */
export function isKey(given: string, hash: ArrayBuffer | null): boolean {
  const same = timingSafeEqual(sha256(given), new Uint8Array(hash ?? new ArrayBuffer(32)));
  return same && hash !== null;
}

/** Whether two secrets are equal, in a time that does not depend on their content. */
export function isSecret(given: string, secret: string): boolean {
  return timingSafeEqual(sha256(given), sha256(secret));
}

function sha256(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash("sha256").update(text).digest());
}
