/** Refusals: errors of requests whose response is a problem document (RFC 9457). */

import type { Problem } from "./payload.ts";

/** The parameters or body paths at fault. */
export type Faults = Problem["errors"];

/** Error of a request whose response is a problem document. */
export class Refusal extends Error {
  /** Name of the class. */
  override readonly name = "Refusal";
  /** The document that is the answer. */
  readonly problem: Problem;
  /** Headers of the answer, such as `Allow` and `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  /** Refusal with a document, and headers in addition to those of every response. */
  constructor(problem: Problem, headers: Record<string, string> = {}) {
    super(problem.detail);
    this.problem = problem;
    this.headers = headers;
  }
}

/** A status that a request may be refused with. */
export type RefusalStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 409
  | 413
  | 415
  | 422
  | 424
  | 429
  | 500
  | 503;

const TITLES: Readonly<Record<RefusalStatus, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  424: "Failed Dependency",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** The refusal to throw; `detail` says the cause and how to correct the request. */
export function refuse(
  status: RefusalStatus,
  detail: string,
  errors: Faults = [],
): Refusal {
  return new Refusal({ type: "about:blank", title: TITLES[status], status, detail, errors });
}

/** Refusal of a method that the path does not have, with the allowed methods. */
export function refuseMethod(method: string, allowed: readonly string[]): Refusal {
  const list = allowed.join(", ");
  const { problem } = refuse(405, `Cannot ${method} here: the method must be one of ${list}`);
  return new Refusal(problem, { allow: list });
}

/** The refusal with a `Retry-After` header. */
export function retryAfter(seconds: number, { problem, headers }: Refusal): Refusal {
  return new Refusal(problem, { ...headers, "retry-after": String(seconds) });
}
