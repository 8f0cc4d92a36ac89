/** Entity tags of answers that never change: who has one need not fetch it again. */

import { createHash } from "node:crypto";
import { encode } from "@service/core";
import type { StoredInstance } from "../windows/instance.ts";

/** How long an answer that is final may be used again without asking. */
export const FINAL_CACHING = "private, max-age=60";

/** Whether a read up to `end_ns` can never answer anything else: all up to there has come. */
export function isFinal(instance: StoredInstance, end_ns: bigint | undefined): boolean {
  const { watermark_ns, final_ns } = instance;
  return end_ns !== undefined && (end_ns <= watermark_ns || watermark_ns === final_ns);
}

/** The tag of the answer that follows from `value`; weak, as the answer may be compressed. */
export function entityTag(value: unknown): string {
  return `W/"${createHash("sha256").update(encode(value)).digest("base64url").slice(0, 27)}"`;
}

/** Whether the header `If-None-Match` names the tag. */
export function matches(header: string | undefined, tag: string): boolean {
  const weak = (one: string) => one.trim().replace(/^W\//, "");
  return header?.split(",").some((one) => one.trim() === "*" || weak(one) === weak(tag)) ?? false;
}
