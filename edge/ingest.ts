import { createHash } from "node:crypto";
import { decode, encode, refuse, ShapeError, type Upload, uploadShape } from "@service/core";
import { readBody } from "./body.ts";
import { authenticate } from "./caller.ts";
import { answer, type Handler } from "./handler.ts";
import { expectFewSeries, quotasOf } from "./quotas.ts";
import { storeWindow } from "./store.ts";

/** `POST /api/v1/ingest`: takes one window of one instance. */
export const ingest: Handler = async (c, service) => {
  using caller = await authenticate(c, service, "write");
  const quotas = quotasOf(caller.project, service.quotas);
  const { inflated, gzipped } = await readBody(c.req.raw, quotas.max_body_bytes);
  const { window, final, tags, attributes, ...upload } = readUpload(inflated);
  expectFewSeries(window, quotas);
  await service.instances.expectRoom(caller, upload.instance_id, quotas);
  const outcome = await storeWindow(caller.db, {
    ...upload,
    project: caller.project.id,
    key: caller.key.name,
    tags: JSON.stringify(tags),
    attributes: JSON.stringify(attributes),
    from_ns: window.from_ns,
    to_ns: window.to_ns,
    final,
    digest: new Uint8Array(createHash("sha256").update(inflated).digest()),
    body: gzipped,
    errors: window.errors.length > 0 ? encode(window.errors) : null,
    error_count: window.errors.length,
    received_ns: service.now_ns(),
  });
  if ("conflict" in outcome) {
    const { conflict: parameter, message } = outcome;
    throw refuse(409, `Cannot store the window: ${parameter} ${message}`, [{ parameter, message }]);
  }
  service.metrics.windows[outcome.stored ? "stored" : "duplicate"]++;
  return answer(c, outcome);
};

const utf8 = new TextDecoder("utf-8", { fatal: true });

function readUpload(body: Uint8Array): Upload {
  const value = readJson(body);
  try {
    return uploadShape.check(value);
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    const parameter = error.path || "body";
    throw refuse(400, error.message, [{ parameter, message: error.fault }]);
  }
}

function readJson(body: Uint8Array): unknown {
  try {
    return decode(utf8.decode(body));
  } catch (error) {
    const errors = [{ parameter: "body", message: (error as Error).message }];
    throw refuse(400, "Cannot read the body: it must be JSON in UTF-8", errors);
  }
}
