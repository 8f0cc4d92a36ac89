/** The local `/context` and `/findings`: what limits the run, as a text and as data. */

import { encode } from "@service/core";
import type { RunSubjectOptions, Subject } from "@service/core/context";
import { sectionNames, tokenBudget } from "@service/core/context/parameters";
import { stepLength } from "@service/core/facts/step_length";
import { refuse } from "@service/core/problem";
import { type Format, optional } from "@service/core/query";
import { parseWindowName, spanOfWindow, type WindowName } from "@service/core/window_name";
import { gzip } from "../base/gzip.ts";
import { listedInstance } from "../base/instance.ts";
import { type JsonBody, type Route, route, type RouteRequest } from "./route.ts";
import type { WindowStreamOptions } from "./window_stream.ts";
import { spanOf, spanParameters, type SpanQuery } from "./windows.ts";

/** A window, and its name as it was written. */
type Named = WindowName & { text: string };

type ContextQuery = SpanQuery & { window: Named | undefined };

/** Reads what is said of the part of the run that a request names. */
export type ReadContext = (request: RouteRequest<ContextQuery>) => Promise<Subject>;

const STEADY: Named = { kind: "steady", text: "steady" };

const windowName: Format<Named> = {
  parse: (text) => ({ ...parseWindowName(text), text: text.trim() }),
  schema: { type: "string", minLength: 1 },
};

const parameters = {
  ...spanParameters,
  window: optional(
    windowName,
    "all, steady (after start-up), last 60s, or FROM..TO; in place of start, end and seconds. " +
      "Default: steady.",
  ),
};

/** The route of `/context`: JSON, or the text alone to who accepts `text/plain`. */
export function contextRoute(read: ReadContext): Route {
  return route({
    method: "GET",
    path: "/context",
    query: {
      ...parameters,
      max_tokens: optional(tokenBudget, "Most tokens of the text. Default: 8000."),
      sections: optional(sectionNames, "Sections to give, separated by commas. Default: all."),
    },
    async handle(request) {
      const { query: { max_tokens, sections }, acceptsText } = request;
      const { contextText } = await import("@service/core/context");
      const subject = await read(request);
      const text = contextText(subject, { max_tokens, sections });
      return acceptsText
        ? await bodyOf(text, { ...request, type: "text/plain; charset=utf-8" })
        : await bodyOf(encode({ context: text }), request);
    },
  });
}

/** The route of `/findings`. */
export function findingsRoute(read: ReadContext): Route {
  return route({
    method: "GET",
    path: "/findings",
    query: parameters,
    async handle(request) {
      const { findingsAnswer } = await import("@service/core/context");
      const { findings } = await read(request);
      return await bodyOf(encode(findingsAnswer(findings)), request);
    },
  });
}

/** Reads what is said of a run. Its code is loaded with the first request. */
export function contextReader(options: WindowStreamOptions): ReadContext {
  // Names of kernels stay the same while a run goes on, and cost most of what is said of it.
  let labelOf: RunSubjectOptions["labelOf"];
  return async function readContext(request) {
    const { kernelLabels } = await import("@service/core/facts");
    labelOf ??= kernelLabels();
    return await read(options, request, labelOf);
  };
}

async function read(
  { instance, total, windows, now_ns, refresh }: WindowStreamOptions,
  { query, origin }: RouteRequest<ContextQuery>,
  labelOf: RunSubjectOptions["labelOf"],
): Promise<Subject> {
  const { runSubject } = await import("@service/core/context");
  await refresh?.();
  const { from_ns, to_ns } = total;
  const { start, end, seconds, window = STEADY } = query;
  const isPlain = start !== undefined || end !== undefined || seconds !== undefined;
  if (isPlain && query.window) {
    const message = "must not be given together with start, end or seconds";
    throw refuse(400, `Cannot read the context: window ${message}`, [{
      parameter: "window",
      message,
    }]);
  }
  const asked = spanOf(query, { from_ns, to_ns, now_ns: now_ns() }) ??
    spanOfWindow(window, { from_ns, to_ns });
  const steps = await Array.fromAsync(windows.steps({ ...asked, step_ns: stepLength(asked) }));
  return runSubject({
    instance: await listedInstance(instance, to_ns),
    asked,
    steps,
    is_running: true,
    keepsStartUp: window.kind === "all" && !isPlain,
    window: isPlain ? undefined : window.text,
    base_url: origin,
    labelOf,
  });
}

async function bodyOf(
  text: string,
  { acceptsGzip, type }: { acceptsGzip: boolean; type?: string },
): Promise<JsonBody> {
  const bytes = acceptsGzip ? await gzip(text) : new TextEncoder().encode(text);
  return { bytes, isCompressed: acceptsGzip, type };
}
