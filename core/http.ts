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

/**
 * Whether a header `Accept` wants plain text (RFC 9110, 12.5.1): it names `text/plain`, and JSON not at
 * all or with less weight. Clients that take anything are given JSON.
 */
export function acceptsText(header: string | null | undefined): boolean {
  const weights = new Map<string, number>();
  for (const offer of (header ?? "").toLowerCase().split(",")) {
    const [type = "", ...parameters] = offer.split(";").map((part) => part.trim());
    const weight = parameters.find((part) => part.startsWith("q="))?.slice(2);
    weights.set(type, weight === undefined ? 1 : Number(weight) || 0);
  }
  return (weights.get("text/plain") ?? 0) > (weights.get("application/json") ?? 0);
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
