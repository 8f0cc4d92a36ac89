/** `GET /metrics`: the service's own counters, for the operator's Prometheus. */

import { text } from "@service/core/schema";
import { respondText } from "../http/respond.ts";
import { type Route, route } from "../http/route.ts";

const TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** `GET /metrics`: the counters of this process. */
export const metrics: Route = route({
  method: "GET",
  path: "/metrics",
  access: "hidden",
  summary: "The service's own counters, for Prometheus",
  answers: {
    200: { description: "The counters of this process.", content: { type: TYPE, shape: text() } },
  },
  async handle({ c, service: { databases, metrics } }) {
    return respondText(c, metrics.text(await databases.waitingWrites()), TYPE);
  },
});
