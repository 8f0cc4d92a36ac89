import { createHash } from "node:crypto";
import { encode, ShapeError, type Upload } from "@service/core";
import { refuse } from "@service/core/problem";
import { readBody } from "../http/body.ts";
import { authenticate, type Caller } from "../http/authenticate.ts";
import { answer, type Handler, type RequestContext, type Service } from "../http/respond.ts";
import { expectFewSeries, quotasOf } from "../tenancy/quotas.ts";
import { rollUpClosed } from "../windows/rollup.ts";
import { DIGEST_BYTES, storeWindow, type WindowToStore } from "../windows/write.ts";
import type { UploadReader } from "../format/fast_upload.ts";

/** `POST /api/v1/ingest`: takes one window of one instance. */
export const ingest: Handler = async (c, service) => {
  using caller = await authenticate(c, service, "write");
  const { db } = caller;
  const row = await rowOf(c, service, caller);
  const outcome = await storeWindow(db, row);
  if ("conflict" in outcome) {
    const { conflict: parameter, message } = outcome;
    throw refuse(409, `Cannot store the window: ${parameter} ${message}`, [{ parameter, message }]);
  }
  const { instance, rolled, ...answered } = outcome;
  service.metrics.windows[answered.stored ? "stored" : "duplicate"]++;
  const { from_ns, to_ns, received_ns } = row;
  if (answered.stored && answered.watermark_ns >= to_ns) {
    const { dictionaries } = service.memory;
    const closing = { dictionaries, name: row, instance, received_ns, from_ns, to_ns, rolled };
    await rollUpClosed(db, closing).catch(() => {
      // The window is stored; the maintenance makes what is missing.
    });
  }
  return answer(c, answered);
};

/** The window as it is stored: what it was made of is let go before it waits for its turn. */
async function rowOf(
  c: RequestContext,
  service: Service,
  caller: Caller,
): Promise<WindowToStore> {
  const { db, project, key } = caller;
  const { uploads, dictionaries, minutes } = service.memory;
  const quotas = quotasOf(project, service.quotas);
  const body = await readBody(c.req.raw, quotas.max_body_bytes);
  const { window, tags, attributes, ...upload } = readUpload(uploads, body);
  expectFewSeries(window, quotas);
  await service.instances.expectRoom(caller, upload.instance_id, quotas);
  const { from_ns, to_ns, errors } = window;
  const received_ns = service.now_ns();
  const name = { project: project.id, instance_id: upload.instance_id };
  const digest = digestOf(body);
  return {
    ...upload,
    ...name,
    key: key.name,
    tags: JSON.stringify(tags),
    attributes: JSON.stringify(attributes),
    from_ns,
    to_ns,
    packed: await dictionaries.packWindow(db, { name, window }),
    minutes: await minutes.closeWith(db, { name, window, digest }),
    digest,
    errors: errors.length > 0 ? encode(errors) : null,
    error_count: errors.length,
    received_ns,
  };
}

function digestOf(body: Uint8Array): Uint8Array<ArrayBuffer> {
  const digest = createHash("sha256").update(body).digest();
  return new Uint8Array(digest.subarray(0, DIGEST_BYTES));
}

const utf8 = new TextDecoder();
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** The one that throws takes four times as long, and is asked only where something may be wrong. */
function textOf(body: Uint8Array): string {
  const text = utf8.decode(body);
  return text.includes("\ufffd") ? strictUtf8.decode(body) : text;
}

function readUpload(uploads: UploadReader, body: Uint8Array): Upload {
  try {
    return uploads.read(textOf(body));
  } catch (error) {
    if (error instanceof ShapeError) {
      const parameter = error.path || "body";
      throw refuse(400, error.message, [{ parameter, message: error.fault }]);
    }
    const errors = [{ parameter: "body", message: (error as Error).message }];
    throw refuse(400, "Cannot read the body: it must be JSON in UTF-8", errors);
  }
}
