/** HTTP rules that both endpoints share: negotiation of gzip, and the answer of a refusal. */

import type { Refusal } from "./problem.ts";

/** The answer that a refusal is. */
export interface ProblemAnswer {
  /** HTTP status. */
  status: number;
  /** All headers, by name. */
  headers: Record<string, string>;
  /** The document as JSON text. */
  body: Uint8Array<ArrayBuffer>;
}

/** Whether a header `Accept-Encoding` accepts gzip (RFC 9110, 12.5.3); no header and an empty one do not. */
export function acceptsGzip(header: string | null | undefined): boolean {
  const accepted = new Map<string, boolean>();
  for (const offer of (header ?? "").toLowerCase().split(",")) {
    const [coding = "", ...parameters] = offer.split(";").map((part) => part.trim());
    accepted.set(coding, !parameters.some((part) => /^q=0(\.0*)?$/.test(part)));
  }
  return accepted.get("gzip") ?? accepted.get("*") ?? false;
}

/** The problem document of a refusal, as it is sent (RFC 9457). */
export function problemAnswer({ problem, headers }: Refusal): ProblemAnswer {
  const body = new TextEncoder().encode(JSON.stringify(problem));
  return {
    status: problem.status,
    headers: {
      "content-type": "application/problem+json",
      "content-length": String(body.length),
      ...headers,
    },
    body,
  };
}
