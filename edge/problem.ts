import type { Problem } from "@service/core";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

/** The parameters or body paths at fault. */
export type Faults = Problem["errors"];

/** A request that is answered with a problem document instead. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /** The document that says why. */
  readonly problem: Problem;

  /** For the answer `problem`. */
  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

const TITLES = {
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  413: "Content Too Large",
  500: "Internal Server Error",
} as const;

/** The refusal to throw: `detail` says what is wrong and how to mend it. */
export function refuse(
  status: keyof typeof TITLES,
  detail: string,
  errors: Faults = [],
): Refusal {
  return new Refusal({ type: "about:blank", title: TITLES[status], status, detail, errors });
}

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
