/** The operator's routes: each operation over HTTP. */

import { refuse } from "@service/core/problem";
import { json, refusal } from "../http/answers.ts";
import { jsonBody } from "../http/body.ts";
import { type Route, route } from "../http/route.ts";
import type { Operation } from "./operation.ts";
import { operations } from "./operations.ts";

/** The operator's routes, one for each operation. */
export const adminRoutes: readonly Route[] = operations.map(routeOf);

function routeOf(operation: Operation): Route {
  const { method, path, summary, description, target, fields, body, run } = operation;
  return route({
    method,
    path: `/api/v1/admin/${path}`,
    access: "operator",
    summary,
    description,
    ...(target && { segments: { [target.name]: target.description } }),
    ...(Object.keys(fields).length > 0 && { body: jsonBody(body) }),
    answers: {
      200: json(operation.answer, "It is done."),
      ...(target && { 404: refusal(target.missing) }),
    },
    async handle({ service, segments, body: values }) {
      try {
        const answer = await run(service, { target: segments[target?.name ?? ""] ?? "", values });
        return operation.answer.check(answer);
      } catch (error) {
        if (error instanceof RangeError) throw refuse(400, error.message);
        throw error;
      } finally {
        service.keys.forget();
      }
    },
  });
}
