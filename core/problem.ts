/** Refusals: why a request gets a problem document (RFC 9457) instead of its answer. */

import type { Problem } from "./payload.ts";

/** The parameters or body paths at fault. */
export type Faults = Problem["errors"];

/** A request that is answered with a problem document instead. */
export class Refusal extends Error {
  /** Name of the class. */
  override readonly name = "Refusal";
  /** The document that says why. */
  readonly problem: Problem;

  /** For the answer `problem`. */
  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** The statuses that a request may be refused with, and their names. */
const TITLES = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  413: "Content Too Large",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
} as const;

/** The refusal to throw: `detail` says what is wrong and how to mend it. */
export function refuse(
  status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 422 | 429 | 500 | 503,
  detail: string,
  errors: Faults = [],
): Refusal {
  return new Refusal({ type: "about:blank", title: TITLES[status], status, detail, errors });
}
