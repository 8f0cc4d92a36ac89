/** `POST /api/v1/ingest`: stores one window of one instance. */

import { createHash } from "node:crypto";
import { noEntries } from "@service/core/entries";
import { MAX_INFLATED_BYTES, MAX_UPLOAD_BYTES } from "@service/core/limits";
import { refuse } from "@service/core/problem";
import { flag, list, nanoseconds, object, type Shape, text } from "@service/core/schema";
import { uploadShape } from "@service/core/upload_schema";
import { json, refusal } from "../http/answers.ts";
import { readBody } from "../http/body.ts";
import { type AuthenticatedRequest, type Route, route } from "../http/route.ts";
import { expectFewSeries, limitsOf } from "../tenancy/quotas.ts";
import { storedLists } from "../windows/entries.ts";
import { rollUpClosed } from "../windows/rollup.ts";
import { DIGEST_BYTES, storeWindow, type WindowToStore } from "../windows/write.ts";
import { readJsonUpload } from "./json_upload.ts";

/** The outcome of an upload. */
export interface Ingested {
  /** `false`: it was stored before. */
  stored: boolean;
  /** End of the unbroken chain of the instance's windows, epoch nanoseconds. */
  watermark_ns: bigint;
  /** Paths of members that were ignored, without indexes, the first twenty; absent: none. */
  ignored?: string[];
}

const ingested: Shape<Ingested> = object<Ingested>({
  stored: flag,
  watermark_ns: nanoseconds,
  ignored: list(text()),
}, ["ignored"]);

/** A window, and the paths of members of its upload that were ignored. */
interface ReadWindow {
  window: WindowToStore;
  ignored: string[];
}

/** `POST /api/v1/ingest`: stores one window of one instance. */
export const ingest: Route = route({
  method: "POST",
  path: "/api/v1/ingest",
  access: "write",
  summary: "Stores one window of one instance, as the profiler uploads it",
  description:
    "A window that is sent again changes nothing. Windows may arrive in any order. Members " +
    "that the service does not know are ignored, and named in the answer.",
  headers: {
    "Content-Encoding": {
      description: "Compression of the body. Default: identity.",
      schema: { enum: ["gzip", "identity"] },
    },
  },
  body: {
    description: `At most ${MAX_UPLOAD_BYTES} bytes, and ${MAX_INFLATED_BYTES} inflated.`,
    name: "Upload",
    schema: uploadShape.schema,
    read: readWindow,
  },
  answers: {
    200: json(ingested, "The window is stored.", {
      name: "Ingested",
      example: { stored: true, watermark_ns: 0 },
    }),
    400: refusal("A header or the body is wrong: errors names the header, or the path in it."),
    409: refusal(
      "The window contradicts what is stored: another start_ns, a span that overlaps one, other " +
        "content for the same span, or a span after the final one. Or the instance is new, and " +
        "the project's quota of instances is used up.",
    ),
    413: refusal("The body is too large, as sent or inflated."),
    415: refusal("The upload has a format that this service does not read."),
    422: refusal("The window has more series than the project's quota."),
  },
  async handle({ service, client: { db }, body: { window, ignored } }) {
    const outcome = await storeWindow(db, window);
    if ("conflict" in outcome) {
      const { conflict: parameter, message } = outcome;
      throw refuse(409, `Cannot store the window: ${parameter} ${message}`, [
        { parameter, message },
      ]);
    }
    const { instance, rolled, ...answered } = outcome;
    service.metrics.windows[answered.stored ? "stored" : "duplicate"]++;
    const { from_ns, to_ns } = window;
    if (answered.stored && answered.watermark_ns >= to_ns) {
      const { blocks } = service.memory;
      const closing = { blocks, project: window.project, instance, from_ns, to_ns, rolled };
      await rollUpClosed(db, closing).catch(() => {
        // The window is stored, and maintenance makes roll-ups that are missing.
      });
    }
    return ignored.length > 0 ? { ...answered, ignored } : answered;
  },
});

/** The window as it is stored; its body is garbage before the window waits in the write queue. */
async function readWindow(
  { c, service, client }: AuthenticatedRequest<"write">,
): Promise<ReadWindow> {
  const { db, project, key } = client;
  const { packers, minutes } = service.memory;
  const limits = limitsOf(project, service.quotas);
  const body = await readBody(c.req.raw, limits.max_body_bytes);
  const { upload, ignored } = readJsonUpload(body);
  const { window, final, instance_id } = upload;
  expectFewSeries(window, limits);
  await service.instances.expectRoom(client, instance_id, limits);
  const received_ns = service.now_ns();
  const entries = storedLists(window);
  const packed = await packers.pack(db, project.id, {
    ...upload,
    window: { ...window, ...noEntries() },
  });
  const name = { project: project.id, instance_id };
  const digest = digestOf(body);
  const toStore = {
    project: project.id,
    key: key.name,
    known: packed.known,
    from_ns: window.from_ns,
    to_ns: window.to_ns,
    final,
    body: packed.frame.bytes,
    minutes: minutes.closeWith({ name, block: packed.known.block, window, digest }),
    digest,
    entries,
    received_ns,
  };
  return { window: toStore, ignored };
}

function digestOf(body: Uint8Array): Uint8Array<ArrayBuffer> {
  const digest = createHash("sha256").update(body).digest();
  return new Uint8Array(digest.subarray(0, DIGEST_BYTES));
}
