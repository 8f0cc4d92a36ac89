import { createHash } from "node:crypto";
import { decode, encode, refuse, ShapeError, type Upload, uploadShape } from "@service/core";
import { readBody } from "./body.ts";
import { authenticate } from "./caller.ts";
import { answer, type Handler } from "./handler.ts";
import { storeWindow } from "./store.ts";

/** `POST /api/v1/ingest`: takes one window of one instance. */
export const ingest: Handler = async (c, { db, now_ns }) => {
  const caller = await authenticate(db, c.req.header("x-api-key"));
  const { inflated, gzipped } = await readBody(c.req.raw);
  const { window, final, tags, attributes, ...upload } = readUpload(inflated);
  const outcome = await storeWindow(db, {
    ...upload,
    project: caller.project,
    key: caller.key,
    tags: JSON.stringify(tags),
    attributes: JSON.stringify(attributes),
    from_ns: window.from_ns,
    to_ns: window.to_ns,
    final,
    digest: new Uint8Array(createHash("sha256").update(inflated).digest()),
    body: gzipped,
    errors: window.errors.length > 0 ? encode(window.errors) : null,
    error_count: window.errors.length,
    received_ns: now_ns(),
  });
  if ("conflict" in outcome) {
    const { conflict: parameter, message } = outcome;
    throw refuse(409, `Cannot store the window: ${parameter} ${message}`, [{ parameter, message }]);
  }
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
