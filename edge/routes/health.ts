/** `GET /health`: whether the service and its database answer. */

import { object, oneOf } from "@service/core/schema";
import { json, refusal } from "../http/answers.ts";
import { unavailable } from "../http/problem.ts";
import { type Route, route } from "../http/route.ts";

const PATIENCE_MS = 2_000;

const healthy = object<{ status: "ok" }>({ status: oneOf("ok") });

/** `GET /health`: whether the service and the database of its keys answer. */
export const health: Route = route({
  method: "GET",
  path: "/health",
  access: "anyone",
  summary: "Tells whether the service runs and its database answers",
  answers: {
    200: json(healthy, "It runs.", { example: { status: "ok" } }),
    503: refusal("The database does not answer within two seconds."),
  },
  async handle({ service }) {
    let timer;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(unavailable()), PATIENCE_MS);
    });
    try {
      await Promise.race([service.databases.control.query("SELECT 1"), late]);
    } catch {
      throw unavailable();
    } finally {
      clearTimeout(timer);
    }
    return { status: "ok" as const };
  },
});
