/** `GET /api/v1/signals`: one instance's snapshot, from the windows that it uploaded. */

import { emptyWindow, type ErrorEntry, signals as payload, snapshot } from "@service/core";
import { refuse } from "@service/core/problem";
import { optional, required, seconds, selectionParameters, someText } from "@service/core/query";
import { secondsFromNs } from "@service/core/time";
import { BAD_QUERY, json, refusal } from "../http/answers.ts";
import { entityTag, FINAL_CACHING, isFinal, matches } from "../http/etag.ts";
import { type Route, route } from "../http/route.ts";
import { findToRead } from "../windows/passed.ts";
import { readSpan, spanToRead } from "../windows/read.ts";
import { retainedFrom } from "../windows/retention.ts";
import { warningsOf } from "../windows/warnings.ts";
import { VERSION } from "../version.ts";

/** `GET /api/v1/signals`: one instance's snapshot. */
export const signals: Route = route({
  method: "GET",
  path: "/api/v1/signals",
  access: "read",
  summary: "Reads one instance's snapshot, accumulated from start",
  description:
    "An answer that can no longer change, as all windows up to end have arrived, has an ETag.",
  query: {
    instance_id: required(someText, "The instance to read, from the list of instances."),
    start: required(
      seconds,
      "Epoch seconds, exclusive: where counters, histograms and profiles start. To follow an " +
        "instance, the payload_ns / 1e9 of the previous read; nothing is then counted twice. " +
        "Older than the retention: no metrics.",
    ),
    end: optional(
      seconds,
      "Epoch seconds, inclusive: the snapshot instant. Where windows are still missing, the " +
        "snapshot is of an earlier instant, its payload_ns, and errors says what it waits for. " +
        "Default: now.",
    ),
    ...selectionParameters,
  },
  headers: {
    "If-None-Match": {
      description: "ETags of answers that the client has.",
      schema: { type: "string" },
    },
  },
  answers: {
    200: json(payload, "The snapshot.", { name: "Signals" }),
    304: { description: "The client has the answer." },
    400: refusal(`${BAD_QUERY.description} Or start is after end.`),
    404: refusal("The key's project has no such instance."),
  },
  async handle({ c, service, query, client: { db, project } }) {
    const { instance_id } = query;
    const now = service.now_ns();
    const found = await findToRead(db, project, { ids: [instance_id], now_ns: now });
    const instance = found.get(instance_id);
    if (!instance) throw unknownInstance();
    const { late_windows } = instance;
    const asked = spanToRead(instance, { start_ns: query.start, end_ns: query.end, now_ns: now });
    const { span } = asked;
    const retained_ns = retainedFrom(now, service.retention_days);
    const isKept = query.start >= retained_ns;
    if (isKept && isFinal(instance, query.end)) {
      const tag = entityTag([instance.id, late_windows, instance.tags, { ...query }, VERSION]);
      c.header("etag", tag);
      c.header("cache-control", FINAL_CACHING);
      if (matches(c.req.header("if-none-match"), tag)) return c.body(null, 304);
    }
    const read = isKept
      ? await readSpan(db, asked, {
        project: project.id,
        ...service.memory,
        withOlderEntries: true,
      })
      : null;
    const window = read?.window ?? emptyWindow(query.start);
    window.errors.push(...read ? warningsOf(read) : [tooOld(retained_ns, span.payload_ns)]);
    return snapshot(window, {
      ...span,
      context: instance.tags,
      platform: { version: VERSION },
      withoutEnded: true,
      selection: { metrics: query.metrics, top: query.top },
    });
  },
});

function unknownInstance() {
  const message = "is not known in the key's project";
  return refuse(404, `Cannot find the instance: instance_id ${message}`, [
    { parameter: "instance_id", message },
  ]);
}

function tooOld(retained_ns: bigint, log_ns: bigint): ErrorEntry {
  return {
    level: "warning",
    message: `start is older than the retention, which begins at ${secondsFromNs(retained_ns)} ` +
      "(epoch seconds): the payload has no metrics",
    exception: "",
    log_ns,
  };
}
