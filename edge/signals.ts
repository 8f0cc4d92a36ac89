import {
  emptyWindow,
  type ErrorEntry,
  optional,
  readQuery,
  refuse,
  required,
  seconds,
  secondsFromNs,
  selectionParameters,
  snapshot,
  someText,
} from "@service/core";
import { authenticate } from "./caller.ts";
import { answer, type Handler } from "./handler.ts";
import { readWindow } from "./read.ts";
import { retainedFrom } from "./retention.ts";
import { spanOf } from "./span.ts";
import { VERSION } from "./version.ts";

/** `GET /api/v1/signals`: one instance's snapshot, from what it uploaded. */
export const signals: Handler = async (c, { db, now_ns, retention_days }) => {
  const search = new URL(c.req.url).searchParams;
  const { instance } = await authenticate(
    db,
    c.req.header("x-api-key"),
    search.get("instance_id") ?? "",
  );
  const query = readQuery(search, {
    instance_id: required(someText),
    start: required(seconds),
    end: optional(seconds),
    ...selectionParameters,
  });
  if (!instance) {
    const message = "is not known in the key's project";
    throw refuse(404, `Cannot find the instance: instance_id ${message}`, [
      { parameter: "instance_id", message },
    ]);
  }
  const now = now_ns();
  const span = spanOf(instance, { start_ns: query.start, end_ns: query.end, now_ns: now });
  const retained_ns = retainedFrom(now, retention_days);
  const window = query.start < retained_ns
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
