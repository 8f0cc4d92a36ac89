/** `GET /api/v1/signal_context` and `/api/v1/findings`: what limits workloads, as a text and as data. */

import {
  contextText,
  findingsAnswer,
  findingsShape,
  guideText,
  readSubject,
  sectionNames,
  type Subject,
  tokenBudget,
} from "@service/core/context";
import { acceptsText } from "@service/core/http";
import { refuse } from "@service/core/problem";
import { nanoseconds, optional, required } from "@service/core/query";
import { object, text } from "@service/core/schema";
import type { Tags } from "@service/core";
import { json } from "../http/answers.ts";
import { type AuthenticatedRequest, type Route, route } from "../http/route.ts";
import { respondText } from "../http/respond.ts";
import { StorageReader } from "../windows/reader.ts";
import { tagFilter } from "../windows/selection.ts";

const TEXT_TYPE = "text/plain; charset=utf-8";

/** A span, and the tags of instances. */
interface ContextQuery {
  start_time_ns: bigint;
  end_time_ns: bigint;
  tags: Tags | undefined;
}

const span = {
  start_time_ns: required(nanoseconds, "Epoch nanoseconds, exclusive: where the span begins."),
  end_time_ns: required(nanoseconds, "Epoch nanoseconds, inclusive: where the span ends."),
  tags: optional(
    tagFilter,
    "Tags that an instance must have, all of them: k1:v1;k2:v2, where %3B is a semicolon, %25 a " +
      "percent sign and %3A a colon in a key. Default: any.",
  ),
};

const parameters = {
  ...span,
  max_tokens: optional(
    tokenBudget,
    "Most tokens of the text, as the encoding o200k_base counts them. Default: 8000.",
  ),
  sections: optional(
    sectionNames,
    "Comma-separated sections to give. Default: all but traces.",
  ),
};

/** `GET /api/v1/signal_context`: the text for a language model that decides what to change. */
export const signalContext: Route = contextRoute(
  "/api/v1/signal_context",
  "Says what limits the workloads of a span, as one text for a language model",
);

/** The same at the path that the public client asks. */
export const contextAlias: Route = contextRoute(
  "/api/v1/context/signals",
  "The same as /api/v1/signal_context",
);

function contextRoute(path: string, summary: string): Route {
  return route({
    method: "GET",
    path,
    access: "read",
    summary,
    description:
      "Findings are ranked by what they cost, each with evidence, remedies and how to verify it; " +
      "then errors, GPU time, devices, engine, host and metrics. What does not fit is left out by " +
      "row, the least important first, and said. The same data gives the same text.",
    query: parameters,
    badQuery: 422,
    answers: {
      200: json(object<{ context: string }>({ context: text() }), "The text.", {
        name: "SignalContext",
        textType: TEXT_TYPE,
      }),
    },
    async handle(request) {
      const { c, query: { max_tokens, sections, ...query } } = request;
      const context = contextText(await subjectOf(request, query), { max_tokens, sections });
      c.header("vary", "Accept", { append: true });
      return acceptsText(c.req.header("accept")) ? respondText(c, context, TEXT_TYPE) : { context };
    },
  });
}

/** `GET /api/v1/context/guide`: the part of the text that does not depend on data. */
export const guideAlias: Route = route({
  method: "GET",
  path: "/api/v1/context/guide",
  access: "read",
  summary: "Says how to read the text of /api/v1/signal_context, and how to ask for it",
  answers: {
    200: { description: "The guide.", content: { type: TEXT_TYPE, shape: text() } },
  },
  handle: ({ c }) => respondText(c, guideText(), TEXT_TYPE),
});

/** `GET /api/v1/findings`: the findings of a span as data. */
export const findings: Route = route({
  method: "GET",
  path: "/api/v1/findings",
  access: "read",
  summary: "Says what limits the workloads of a span, as data",
  description: "Findings are ranked by what they cost; ids are stable.",
  query: span,
  badQuery: 422,
  answers: {
    200: json(findingsShape, "What was found, and what is not known.", { name: "Findings" }),
  },
  async handle(request) {
    return findingsAnswer((await subjectOf(request, request.query)).findings);
  },
});

/** What is known of the instances that a query names. */
function subjectOf(
  { c, service, client: { db, project } }: AuthenticatedRequest<"read">,
  { start_time_ns, end_time_ns, tags = {} }: ContextQuery,
): Promise<Subject> {
  if (start_time_ns >= end_time_ns) {
    const message = "must be before end_time_ns";
    throw refuse(422, `Cannot read the context: start_time_ns ${message}`, [
      { parameter: "start_time_ns", message },
    ]);
  }
  const { memory: { blocks }, retention_days } = service;
  const now_ns = service.now_ns();
  return readSubject(new StorageReader({ db, project, blocks, now_ns, retention_days }), {
    span: { from_ns: start_time_ns, to_ns: end_time_ns },
    tags,
    base_url: new URL(c.req.url).origin,
  });
}
