/** HTTP rules of both endpoints: gzip negotiation, and the response to a refused request. */

import type { Refusal } from "./problem.ts";

/** HTTP response to a refused request. */
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

/** The response with the problem document of a refusal (RFC 9457). */
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
