import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** What a key allows. */
export type Scope = "read" | "write";

/** A key as its owner holds it, and what is stored of it. */
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
const FORM = new RegExp(`^(svc_[0-9a-f]{${2 * PREFIX_BYTES}})_[0-9a-f]{${2 * SECRET_BYTES}}$`);

/** A new random key. */
export function makeKey(): NewKey {
  const prefix = `svc_${randomBytes(PREFIX_BYTES).toString("hex")}`;
  const key = `${prefix}_${randomBytes(SECRET_BYTES).toString("hex")}`;
  return { key, prefix, hash: sha256(key) };
}

/** The prefix of what looks like a key, or `null`. */
export function prefixOf(given: string): string | null {
  return FORM.exec(given)?.[1] ?? null;
}

/** Whether `given` is the key behind `hash`; takes as long for `null`, a prefix that is unknown. */
export function isKey(given: string, hash: ArrayBuffer | null): boolean {
  const same = timingSafeEqual(sha256(given), new Uint8Array(hash ?? new ArrayBuffer(32)));
  return same && hash !== null;
}

/** Whether two secrets are one; takes as long whatever they share. */
export function isSecret(given: string, secret: string): boolean {
  return timingSafeEqual(sha256(given), sha256(secret));
}

function sha256(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash("sha256").update(text).digest());
}
