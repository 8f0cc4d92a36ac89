/** `GET /health`: whether the service and its database answer, and no project's database is gone. */

import { object, oneOf } from "@service/core/schema";
import { json, refusal } from "../http/answers.ts";
import { filesGone, refusalOf, unavailable } from "../http/problem.ts";
import { type Route, route } from "../http/route.ts";
import { listGone } from "../tenancy/projects.ts";

const PATIENCE_MS = 2_000;

const healthy = object<{ status: "ok" }>({ status: oneOf("ok") });

/** `GET /health`: whether the service runs, the database of its keys answers, and no file is gone. */
export const health: Route = route({
  method: "GET",
  path: "/health",
  access: "anyone",
  summary: "Tells whether the service runs, its database answers and no project's file is gone",
  answers: {
    200: json(healthy, "It runs.", { example: { status: "ok" } }),
    503: refusal(
      "The database does not answer within two seconds, or one that was made before is gone.",
    ),
  },
  async handle({ service }) {
    let timer;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(unavailable()), PATIENCE_MS);
    });
    try {
      const { databases, now_ns } = service;
      const gone = await Promise.race([listGone(databases, now_ns()), late]);
      if (gone.length > 0) throw filesGone(gone);
    } catch (error) {
      throw refusalOf(error) ?? unavailable();
    } finally {
      clearTimeout(timer);
    }
    return { status: "ok" as const };
  },
});
