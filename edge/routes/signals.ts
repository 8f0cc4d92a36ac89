import { emptyWindow, type ErrorEntry, snapshot } from "@service/core";
import { refuse } from "@service/core/problem";
import {
  optional,
  readQuery,
  required,
  seconds,
  selectionParameters,
  someText,
} from "@service/core/query";
import { secondsFromNs } from "@service/core/time";
import { authenticate } from "../http/authenticate.ts";
import { entityTag, FINAL_CACHING, isFinal, matches } from "../http/etag.ts";
import { answer, type Handler } from "../http/respond.ts";
import { findInstance } from "../windows/instance.ts";
import { readWindow } from "../windows/read.ts";
import { retainedFrom } from "../windows/retention.ts";
import { spanOf } from "../windows/span.ts";
import { VERSION } from "../version.ts";

/** `GET /api/v1/signals`: one instance's snapshot, from what it uploaded. */
export const signals: Handler = async (c, service) => {
  using caller = await authenticate(c, service, "read");
  const { db, project } = caller;
  const query = readQuery(new URL(c.req.url).searchParams, {
    instance_id: required(someText, "The instance to read, from the list of instances."),
    start: required(
      seconds,
      "Epoch seconds, exclusive: where counters, histograms and profiles start. To follow an " +
        "instance, the payload_ns / 1e9 of the previous read; nothing is then counted twice. " +
        "Older than what is kept: no metrics.",
    ),
    end: optional(
      seconds,
      "Epoch seconds, inclusive: the snapshot instant, or as near to it as all has arrived. " +
        "Default: now.",
    ),
    ...selectionParameters,
  });
  const instance = await findInstance(db, project, query.instance_id);
  if (!instance) {
    const message = "is not known in the key's project";
    throw refuse(404, `Cannot find the instance: instance_id ${message}`, [
      { parameter: "instance_id", message },
    ]);
  }
  const now = service.now_ns();
  const span = spanOf(instance, { start_ns: query.start, end_ns: query.end, now_ns: now });
  const retained_ns = retainedFrom(now, service.retention_days);
  const isKept = query.start >= retained_ns;
  if (isKept && isFinal(instance, query.end)) {
    const tag = entityTag([instance.id, instance.tags, { ...query }, VERSION]);
    c.header("etag", tag);
    c.header("cache-control", FINAL_CACHING);
    if (matches(c.req.header("if-none-match"), tag)) return c.body(null, 304);
  }
  const window = !isKept
    ? { ...emptyWindow(query.start), errors: [tooOld(retained_ns, span.payload_ns)] }
    : await readWindow(db, instance, span);
  return answer(
    c,
    snapshot(window, {
      ...span,
      context: instance.tags,
      platform: { version: VERSION },
      selection: { metrics: query.metrics, top: query.top },
    }),
  );
};

function tooOld(retained_ns: bigint, log_ns: bigint): ErrorEntry {
  return {
    level: "warning",
    message:
      `start is older than what is kept, from ${secondsFromNs(retained_ns)} (epoch seconds)` +
      ": the payload has no metrics",
    exception: "",
    log_ns,
  };
}
