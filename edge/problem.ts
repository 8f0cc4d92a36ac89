import { Refusal, refuse } from "@service/core";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

/** The answer that a refusal is (RFC 9457). */
export function problemResponse(
  c: Context,
  { problem }: Refusal,
  headers: Record<string, string> = {},
): Response {
  return c.body(JSON.stringify(problem), problem.status as ContentfulStatusCode, {
    "content-type": "application/problem+json",
    ...headers,
  });
}

/** The answer for any error; one that is no refusal keeps its message to itself. */
export function errorResponse(c: Context, error: Error): Response {
  if (error instanceof Refusal) return problemResponse(c, error);
  const id = c.get("requestId");
  return problemResponse(
    c,
    refuse(500, `The service failed: its log says more under the id ${id}; try again later`),
  );
}
