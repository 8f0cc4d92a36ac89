/** Answers 200: JSON or other text, gzip-compressed if the client accepts it. */

import { gzipSync } from "node:zlib";
import { encode } from "@service/core";
import { acceptsGzip } from "@service/core/http";
import type { RequestContext } from "./context.ts";

/** Shorter answers are not compressed: that would cost more than it saves. */
const COMPRESS_FROM_BYTES = 1_024;

/** The answer 200 with `value` as JSON, integers exact. */
export function respondJson(c: RequestContext, value: unknown): Response {
  return respondText(c, encode(value), "application/json");
}

/** The answer 200 with a text of a media type. */
export function respondText(c: RequestContext, text: string, type: string): Response {
  let body = new TextEncoder().encode(text);
  if (body.length >= COMPRESS_FROM_BYTES && acceptsGzip(c.req.header("accept-encoding"))) {
    body = new Uint8Array(gzipSync(body));
    c.header("content-encoding", "gzip");
  }
  c.get("facts").bytes = body.length;
  return c.body(body, 200, { "content-type": type, "content-length": String(body.length) });
}
