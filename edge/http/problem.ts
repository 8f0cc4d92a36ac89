import { Refusal, refuse } from "@service/core/problem";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { isFenced } from "../database/write_block.ts";
import type { RequestContext } from "./respond.ts";
import { Unavailable } from "../database/unavailable.ts";

/** A refusal that passes: the request may be sent again after some seconds. */
export class RetryLater extends Refusal {
  /** Whole seconds. */
  readonly retry_after: number;

  /** For the answer `refusal`. */
  constructor({ problem }: Refusal, retry_after: number) {
    super(problem);
    this.retry_after = retry_after;
  }
}

const RETRY_UNAVAILABLE_SECONDS = 5;

/** The refusal of a request that needs a database which is not there. */
export function unavailable(): RetryLater {
  return new RetryLater(
    refuse(503, "The database does not answer, or takes nothing for now; send the request again"),
    RETRY_UNAVAILABLE_SECONDS,
  );
}

/** The refusal that an error stands for, or `null` where the service failed. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  if (error instanceof Unavailable) return unavailable();
  if (!isFenced(error)) return null;
  const detail = "Cannot write now: the project is being moved; send the request again";
  return new RetryLater(refuse(503, detail), 1);
}

/** The answer that a refusal is (RFC 9457). */
export function problemResponse(
  c: RequestContext,
  refusal: Refusal,
  headers: Record<string, string> = {},
): Response {
  const { problem } = refusal;
  const body = new TextEncoder().encode(JSON.stringify(problem));
  c.get("facts").bytes = body.length;
  return c.body(body, problem.status as ContentfulStatusCode, {
    "content-type": "application/problem+json",
    "content-length": String(body.length),
    ...(refusal instanceof RetryLater && { "retry-after": String(refusal.retry_after) }),
    ...headers,
  });
}

/** The refusal of a request that the service failed to answer; it keeps the reason to itself. */
export function failure(c: RequestContext): Refusal {
  const id = c.get("requestId");
  return refuse(500, `The service failed: its log says more under the id ${id}; try again later`);
}
