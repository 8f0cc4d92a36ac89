/** Entity tags of answers that never change: a client that has one need not fetch it again. */

import { createHash } from "node:crypto";
import { encode } from "@service/core";
import type { StoredInstance } from "../windows/instance.ts";

/** `Cache-Control` of a final answer. */
export const FINAL_CACHING = "private, max-age=60";

/** Whether a read up to `end_ns` is final: all windows up to there have arrived. */
export function isFinal(instance: StoredInstance, end_ns: bigint | undefined): boolean {
  const { watermark_ns, final_ns } = instance;
  return end_ns !== undefined && (end_ns <= watermark_ns || watermark_ns === final_ns);
}

/** The tag of an answer that is determined by `value`; weak, as the answer may be compressed. */
export function entityTag(value: unknown): string {
  return `W/"${createHash("sha256").update(encode(value)).digest("base64url").slice(0, 27)}"`;
}

/** Whether the header `If-None-Match` contains the tag. */
export function matches(header: string | undefined, tag: string): boolean {
  const weak = (one: string) => one.trim().replace(/^W\//, "");
  return header?.split(",").some((one) => one.trim() === "*" || weak(one) === weak(tag)) ?? false;
}
