/** Errors as refusals, and refusals as answers. */

import { problemAnswer } from "@service/core/http";
import { Refusal, refuse, retryAfter } from "@service/core/problem";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { GoneError } from "../database/database_file.ts";
import { isBlocked } from "../database/write_block.ts";
import { SchemaError } from "../database/schema.ts";
import { Unavailable } from "../database/unavailable.ts";
import type { RequestContext } from "./context.ts";

const RETRY_UNAVAILABLE_SECONDS = 5;

/** The refusal while a database is unavailable. */
export function unavailable(): Refusal {
  return retryAfter(
    RETRY_UNAVAILABLE_SECONDS,
    refuse(
      503,
      "The database does not answer, or accepts no writes for now; send the request again",
    ),
  );
}

/** The refusal while the database that a request needs is gone. */
function gone(): Refusal {
  return retryAfter(
    RETRY_UNAVAILABLE_SECONDS,
    refuse(
      503,
      "The database is gone, and the log of the service says which one: it must be restored; send " +
        "the request again then",
    ),
  );
}

/** The answer of the health check while the files of these projects are gone. */
export function filesGone(projects: readonly bigint[]): Refusal {
  const [first, ...more] = projects;
  const which = more.length === 0
    ? `project ${first}`
    : `${projects.length} projects (${first}, …)`;
  return retryAfter(
    RETRY_UNAVAILABLE_SECONDS,
    refuse(
      503,
      `The database of ${which} is gone: it must be restored; other projects are served`,
    ),
  );
}

/** The refusal of a path that has no route. */
export function pathNotFound(): Refusal {
  return refuse(404, "Cannot find the path: /openapi.json lists all paths");
}

/** The refusal of an error, or `null` if it is a failure of the service. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  if (error instanceof Unavailable || error instanceof SchemaError) return unavailable();
  if (error instanceof GoneError) return gone();
  if (!isBlocked(error)) return null;
  const detail = "Cannot write now: the project is being moved; send the request again";
  return retryAfter(1, refuse(503, detail));
}

/** A refusal as an answer. */
export function problemResponse(c: RequestContext, refusal: Refusal): Response {
  const { body, status, headers } = problemAnswer(refusal);
  c.get("facts").bytes = body.length;
  return c.body(body, status as ContentfulStatusCode, headers);
}

/** The refusal after a failure of the service; the reason is in the log alone. */
export function failure(c: RequestContext): Refusal {
  const id = c.get("requestId");
  return refuse(
    500,
    `The service failed: its log has the reason under the id ${id}; try again later`,
  );
}
